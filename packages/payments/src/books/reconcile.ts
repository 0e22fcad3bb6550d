import type { Address, PublicClient } from 'viem';
import { parseUnits, TransactionReceiptNotFoundError } from 'viem';
import { describeTransaction } from '../chain/describeTransaction.ts';
import { markPayout } from '../chain/marks.ts';
import type { FrontendClient } from '../frontend/createFrontendClient.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { formatCredits, formatStablecoins } from '../payments/formatAmount.ts';

/** Where two books do not agree. */
export interface Difference {
  readonly paymentIntentId: string;
  /** One sentence. */
  readonly what: string;
}

/** What is compared with the journal. */
export interface ReconcileParts {
  readonly journal: PaymentJournal;
  readonly client: PublicClient;
  readonly creditToken: Address;
  readonly frontend: FrontendClient;
  /** A card processor's export, by the names of its head in lower case; absent: not compared. */
  readonly processor?: readonly Readonly<Record<string, string>>[] | undefined;
}

/** Names that processors give to the columns. */
const ID_COLUMNS = ['paymentintentid', 'payment_intent_id', 'payment_intent', 'payment intent id', 'id'];
const AMOUNT_COLUMNS = ['amount', 'stablecoinamount', 'gross'];

async function compareWithChain({ journal, client, creditToken }: ReconcileParts, payment: Payment): Promise<string[]> {
  const { paymentIntentId, txHash, walletAddress, creditsOwed } = payment;
  if (txHash === undefined) return [];
  const mark = markPayout(paymentIntentId);
  const count = journal.marks.find(mark).filter(({ kind }) => kind === 'payout').length;
  const doubled = count > 1 ? [`it has ${count} payouts on the chain`] : [];
  const receipt = await client.getTransactionReceipt({ hash: txHash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });
  if (receipt === undefined) return [...doubled, `its payout ${txHash} is not on the chain`];
  if (receipt.status !== 'success') return [...doubled, `its payout ${txHash} was reverted`];
  const told = describeTransaction(await client.getTransaction({ hash: txHash }), creditToken);
  if (told.mark !== mark || told.kind !== 'payout') return [...doubled, `${txHash} is no payout of it`];
  const faults = [...doubled];
  if (told.recipient?.toLowerCase() !== walletAddress.toLowerCase())
    faults.push(`${told.recipient} was paid, and ${walletAddress} is its wallet`);
  if (creditsOwed !== undefined && told.amount !== creditsOwed && payment.paidBy?.toLowerCase() === told.sender)
    faults.push(`${formatCredits(told.amount ?? 0n)} credits were paid, and ${formatCredits(creditsOwed)} are owed`);
  return faults;
}

function pick(row: Readonly<Record<string, string>>, names: readonly string[]): string {
  return names.map((name) => row[name]).find((value) => value !== undefined && value !== '') ?? '';
}

function compareWithProcessor({ journal, processor }: ReconcileParts): readonly Difference[] {
  if (processor === undefined) return [];
  const rows = new Map(processor.map((row) => [pick(row, ID_COLUMNS), pick(row, AMOUNT_COLUMNS)]));
  const differences: Difference[] = [];
  for (const [paymentIntentId, amount] of rows) {
    const payment = journal.get(paymentIntentId);
    if (payment === undefined)
      differences.push({ paymentIntentId, what: 'the processor has it, and the journal does not' });
    else if (!/^\d+(\.\d{1,6})?$/.test(amount) || parseUnits(amount, 6) !== payment.stablecoinAmount)
      differences.push({
        paymentIntentId,
        what: `the processor has ${amount}, and the journal ${formatStablecoins(payment.stablecoinAmount)}`,
      });
  }
  for (const { paymentIntentId, txHash } of journal.list())
    if (txHash !== undefined && !rows.has(paymentIntentId))
      differences.push({ paymentIntentId, what: 'it is paid, and the processor does not have it' });
  return differences;
}

/**
 * Compares the journal with the chain, the frontend, and a card processor's export.
 *
 * @param parts - what is compared
 * @returns where they do not agree; none: they do
 * @throws FrontendError, viem's errors
 */
export async function reconcile(parts: ReconcileParts): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for (const payment of parts.journal.list()) {
    const { paymentIntentId } = payment;
    for (const what of await compareWithChain(parts, payment)) differences.push({ paymentIntentId, what });
  }
  for (const entry of await parts.frontend.listPending()) {
    // Whatever the frontend sends.
    const id = (entry as { paymentIntentId?: unknown } | null)?.paymentIntentId;
    const known = typeof id === 'string' ? parts.journal.get(id) : undefined;
    if (known?.state === 'completed')
      differences.push({
        paymentIntentId: known.paymentIntentId,
        what: 'it is paid, and the frontend lists it as pending',
      });
  }
  return [...differences, ...compareWithProcessor(parts)];
}
