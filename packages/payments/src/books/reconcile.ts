import { type Address, type PublicClient, TransactionReceiptNotFoundError } from 'viem';
import { describeTransaction } from '../chain/describeTransaction.ts';
import { markPayout } from '../chain/marks.ts';
import type { PlacedMark } from '../journal/createMarkTable.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { checkListing } from '../payments/checkListing.ts';
import { formatCredits, formatStablecoins } from '../payments/formatAmount.ts';
import type { ProcessorRow } from './readExport.ts';

/** Where two books do not agree. */
export interface Difference {
  /** Empty: no payment of the journal. */
  readonly paymentIntentId: string;
  /** One sentence. */
  readonly what: string;
}

/** What is compared with the journal. */
export interface ReconcileParts {
  readonly journal: PaymentJournal;
  readonly client: PublicClient;
  readonly creditToken: Address;
  /** Whose journal it is. */
  readonly self: Address;
  /** All addresses whose payouts count, this instance's among them. */
  readonly relayers: readonly Address[];
  /** Payouts that the chain has now, of every known relayer. */
  readonly payouts: readonly PlacedMark[];
  /** What the frontend lists as pending, not looked at. */
  readonly pending: readonly unknown[];
  /** A card processor's export; absent: not compared. */
  readonly processor?: readonly ProcessorRow[] | undefined;
}

/** Payouts that this journal should know of: those of its own address, and whoever made them if the card was refunded. */
function findUnexpected({ self }: ReconcileParts, { state }: Payment, payouts: readonly PlacedMark[]): string[] {
  // One that is under way is written down once it is deep enough; what another instance pays is in the other's journal.
  const isExpected = ({ sender }: PlacedMark) =>
    sender.toLowerCase() !== self.toLowerCase() || OPEN_STATES.includes(state);
  return payouts
    .filter((payout) => state === 'closed' || !isExpected(payout))
    .map(({ txHash }) => `${txHash} has paid it, and it is ${state} in the journal`);
}

async function compareWithChain(parts: ReconcileParts, payment: Payment): Promise<string[]> {
  const { client, creditToken } = parts;
  const { paymentIntentId, txHash, walletAddress, creditsOwed } = payment;
  const mark = markPayout(paymentIntentId);
  const payouts = parts.payouts.filter((payout) => payout.mark === mark);
  const doubled = payouts.length > 1 ? [`it has ${payouts.length} payouts on the chain`] : [];
  if (txHash === undefined || payment.state === 'closed')
    return [...doubled, ...findUnexpected(parts, payment, payouts)];
  const receipt = await client.getTransactionReceipt({ hash: txHash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });
  if (receipt === undefined) return [...doubled, `its payout ${txHash} is not on the chain`];
  if (receipt.status !== 'success') return [...doubled, `its payout ${txHash} was reverted`];
  const told = describeTransaction(await client.getTransaction({ hash: txHash }), creditToken);
  if (told.mark !== mark || told.kind !== 'payout') return [...doubled, `${txHash} is no payout of it`];
  if (!parts.relayers.some((relayer) => relayer.toLowerCase() === told.sender))
    return [...doubled, `${txHash} is no payout of it: ${told.sender} is no relayer`];
  const faults = [...doubled];
  if (told.recipient?.toLowerCase() !== walletAddress.toLowerCase())
    faults.push(`${told.recipient} was paid, and ${walletAddress} is its wallet`);
  if (creditsOwed !== undefined && told.amount !== creditsOwed && payment.paidBy?.toLowerCase() === told.sender)
    faults.push(`${formatCredits(told.amount ?? 0n)} credits were paid, and ${formatCredits(creditsOwed)} are owed`);
  return faults;
}

/** Payouts of this instance's address, since its journal begins, of payments that the journal does not have. */
async function findUnknown({ journal, client, self, payouts }: ReconcileParts): Promise<readonly Difference[]> {
  const payments = journal.list();
  const beganAtMs = Math.min(...payments.map(({ seenAtMs }) => seenAtMs));
  const known = new Set(payments.map(({ paymentIntentId }) => markPayout(paymentIntentId)));
  const differences: Difference[] = [];
  for (const { mark, sender, txHash, blockNumber, recipient, amount = 0n } of payouts) {
    if (sender.toLowerCase() !== self.toLowerCase() || (mark !== undefined && known.has(mark))) continue;
    const { timestamp } = await client.getBlock({ blockNumber: BigInt(blockNumber) });
    // A block tells its second, not the moment in it.
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
 * @param parts - what is compared
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
    const told = text === '' ? 'no amount' : amount === undefined ? `${text}, which is no amount` : text;
    if (amount !== payment.stablecoinAmount)
      faults.push(`the processor has ${told}, and the journal ${formatStablecoins(payment.stablecoinAmount)}`);
  }
  // What went back to the card stays in the export.
  if (payment.txHash === undefined && payment.state !== 'closed')
    faults.push(`the processor has it, and it is not paid: it is ${payment.state}`);
  return faults;
}

/**
 * Compares the journal with a card processor's export.
 *
 * @param journal - of the instance
 * @param rows - of the export
 * @returns where they do not agree
 */
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
