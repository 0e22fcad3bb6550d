import { type PublicClient, TransactionReceiptNotFoundError } from 'viem';
import { computeCreditsOwed } from '../amounts/computeCredits.ts';
import { formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import { payoutIdOf } from '../chain/calls.ts';
import { isCounted } from '../chain/isCounted.ts';
import { isOwedAmount } from '../flow/findPayout.ts';
import { checkListing } from '../frontend/checkListing.ts';
import type { PlacedTransfer } from '../journal/createTransferTable.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { PAID_BY_HAND, type Payment } from '../journal/payment.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import type { PayerConfig } from '../payerConfig.ts';
import type { ProcessorRow } from './readExport.ts';

/** Where two books do not agree. */
export interface Difference {
  /** Empty: no payment of the journal. */
  readonly paymentIntentId: string;
  /** One sentence. */
  readonly what: string;
}

/** The sources compared with the journal. */
export interface ReconcileParts {
  readonly journal: PaymentJournal;
  readonly client: PublicClient;
  /** Whose journal it is, the other instances, the contract, and which amounts are right. */
  readonly config: Pick<PayerConfig, 'self' | 'others' | 'payouts' | 'expectedRate' | 'maxRateDeviationBps'>;
  /** Transactions with a payout id that the chain has now: from anyone to the payments' wallets, and of every known relayer to any. */
  readonly payouts: readonly PlacedTransfer[];
  /** The frontend's pending payments, not looked at. */
  readonly pending: readonly unknown[];
  /** A card processor's export; absent: not compared. */
  readonly processor?: readonly ProcessorRow[] | undefined;
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Whether another instance has made it: one that is named, or that the contract lets pay. */
function isPeers({ config }: ReconcileParts, { sender, via = '0x' }: PlacedTransfer): boolean {
  return (
    config.others.some((other) => isSame(other, sender)) ||
    (config.payouts !== undefined && isSame(via, config.payouts))
  );
}

/** Payouts that this journal should know of, of a payment that is not paid in it. */
function findUnexpected(
  parts: ReconcileParts,
  { state, reason }: Payment,
  payouts: readonly PlacedTransfer[],
): string[] {
  // One that is under way is written down once it is deep enough; what another instance pays is in the other's journal.
  if (OPEN_STATES.includes(state)) return [];
  if (state === 'closed' && reason?.startsWith(PAID_BY_HAND) && payouts.length === 1) return [];
  return payouts
    .filter((payout) => state === 'closed' || isSame(payout.sender, parts.config.self) || !isPeers(parts, payout))
    .map(({ txHash, sender }) => `${txHash} of ${sender} has paid it, and it is ${state} in the journal`);
}

async function compareWithChain(parts: ReconcileParts, payment: Payment): Promise<string[]> {
  const { client, config } = parts;
  const { paymentIntentId, txHash, walletAddress } = payment;
  const payoutId = payoutIdOf(paymentIntentId);
  const payouts = parts.payouts.filter((payout) => payout.payoutId === payoutId && isCounted(parts, payout));
  const hashes = payouts.map((payout) => payout.txHash).join(', ');
  const doubled = payouts.length > 1 ? [`it has ${payouts.length} payouts on the chain: ${hashes}`] : [];
  if (txHash === undefined || payment.state === 'closed')
    return [...doubled, ...findUnexpected(parts, payment, payouts)];
  const receipt = await client.getTransactionReceipt({ hash: txHash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });
  if (receipt === undefined) return [...doubled, `its payout ${txHash} is not on the chain`];
  if (receipt.status !== 'success') return [...doubled, `its payout ${txHash} was reverted`];
  const payout = payouts.find((found) => found.txHash === txHash);
  if (payout === undefined) return [...doubled, `${txHash} is no payout of it`];
  if (!isSame(payout.sender, config.self) && !isPeers(parts, payout))
    return [...doubled, `${txHash} is no payout of it: ${payout.sender} is no relayer`];
  const faults = [...doubled];
  if (!isSame(payout.recipient, walletAddress))
    faults.push(`${payout.recipient} was paid, and ${walletAddress} is its wallet`);
  if (!isOwedAmount(config, payment, payout.amount)) {
    const owed = payment.creditsOwed ?? computeCreditsOwed(payment.stablecoinAmount, config.expectedRate);
    faults.push(`${formatCredits(payout.amount)} credits were paid, and ${formatCredits(owed)} are owed`);
  }
  return faults;
}

/** Payouts of this instance's address, since its journal begins, of payments that the journal does not have. */
async function findUnknown({ journal, client, config, payouts }: ReconcileParts): Promise<readonly Difference[]> {
  const payments = journal.list();
  const beganAtMs = Math.min(...payments.map(({ seenAtMs }) => seenAtMs));
  const known = new Set(payments.map(({ paymentIntentId }) => payoutIdOf(paymentIntentId)));
  const differences: Difference[] = [];
  for (const { payoutId, sender, txHash, blockNumber, recipient, amount } of payouts) {
    if (!isSame(sender, config.self) || (payoutId !== undefined && known.has(payoutId))) continue;
    const { timestamp } = await client.getBlock({ blockNumber: BigInt(blockNumber) });
    // A block has its second, not the moment in it.
    if ((Number(timestamp) + 1) * 1000 <= beganAtMs) continue;
    const what = `${txHash} has paid ${formatCredits(amount)} credits to ${recipient}, and the journal has no such payment`;
    differences.push({ paymentIntentId: '', what });
  }
  return differences;
}

function compareWithFrontend({ journal, pending }: ReconcileParts): readonly Difference[] {
  const { payments, faults: unfit } = checkListing(pending, []);
  const refused = unfit.map(({ paymentIntentId = '', reason }) => ({
    paymentIntentId,
    what: `the frontend lists what cannot be paid: ${reason}`,
  }));
  const differing = payments.flatMap(({ paymentIntentId, walletAddress, stablecoinAmount }) => {
    const known = journal.get(paymentIntentId);
    if (known === undefined) return [];
    const faults: string[] = [];
    if (known.state === 'completed') faults.push('it is paid, and the frontend lists it as pending');
    if (known.state === 'closed') faults.push('its card was refunded, and the frontend lists it as pending');
    if (known.stablecoinAmount !== stablecoinAmount)
      faults.push(
        `the frontend lists ${formatStablecoins(stablecoinAmount)}, and the journal has ${formatStablecoins(known.stablecoinAmount)}`,
      );
    if (known.walletAddress !== walletAddress)
      faults.push(`the frontend lists the wallet ${walletAddress}, and the journal has ${known.walletAddress}`);
    return faults.map((what) => ({ paymentIntentId, what }));
  });
  return [...refused, ...differing];
}

/**
 * Compares the journal with the chain, the frontend, and a card processor's export.
 *
 * @returns where they do not agree; none: they do
 * @throws viem's errors
 */
export async function reconcile(parts: ReconcileParts): Promise<readonly Difference[]> {
  const { journal, processor } = parts;
  const differences: Difference[] = [];
  for (const payment of journal.list()) {
    const { paymentIntentId } = payment;
    for (const what of await compareWithChain(parts, payment)) differences.push({ paymentIntentId, what });
  }
  return [
    ...differences,
    ...(await findUnknown(parts)),
    ...compareWithFrontend(parts),
    ...(processor === undefined ? [] : compareProcessor(journal, processor)),
  ];
}

function compareRows(journal: PaymentJournal, paymentIntentId: string, rows: readonly ProcessorRow[]): string[] {
  if (paymentIntentId === '') return rows.map(({ line }) => `line ${line} of the export names no payment intent`);
  const payment = journal.get(paymentIntentId);
  if (payment === undefined) return ['the processor has it, and the journal does not'];
  const faults = rows.length > 1 ? [`the processor has it ${rows.length} times`] : [];
  for (const { text, amount } of rows) {
    const listed = text === '' ? 'no amount' : amount === undefined ? `${text}, which is no amount` : text;
    if (amount !== payment.stablecoinAmount)
      faults.push(`the processor has ${listed}, and the journal ${formatStablecoins(payment.stablecoinAmount)}`);
  }
  // Payments refunded to the card stay in the export.
  if (payment.txHash === undefined && payment.state !== 'closed')
    faults.push(`the processor has it, and it is not paid: it is ${payment.state}`);
  return faults;
}

/** Compares the journal with a card processor's export. */
function compareProcessor(journal: PaymentJournal, rows: readonly ProcessorRow[]): readonly Difference[] {
  const byIntent = Map.groupBy(rows, ({ paymentIntentId }) => paymentIntentId);
  const listed = [...byIntent].flatMap(([paymentIntentId, found]) =>
    compareRows(journal, paymentIntentId, found).map((what) => ({ paymentIntentId, what })),
  );
  const missing = journal
    .list()
    .filter(({ paymentIntentId, txHash }) => txHash !== undefined && !byIntent.has(paymentIntentId))
    .map(({ paymentIntentId }) => ({ paymentIntentId, what: 'it is paid, and the processor does not have it' }));
  return [...listed, ...missing];
}
