import type { Hash } from 'viem';
import type { FoundTransfer } from '../journal/createTransferTable.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { PayerConfig } from '../payerConfig.ts';

/** Names the journal's fact that a person has said of a transaction: it is no payout. */
export const dismissedFact = (txHash: Hash) => `dismissed:${txHash}`;

/**
 * Whether a transaction with a payment's payout id may be its payout: of strangers, only what moves credits; and none that a person has
 * dismissed.
 */
export function isCounted(
  {
    journal,
    config,
  }: { readonly journal: Pick<PaymentJournal, 'fact'>; readonly config: Pick<PayerConfig, 'self' | 'others'> },
  { txHash, sender, amount }: FoundTransfer,
): boolean {
  if (journal.fact(dismissedFact(txHash)) !== undefined) return false;
  const isKnown = [config.self, ...config.others].some((known) => known.toLowerCase() === sender);
  return isKnown || amount > 0n;
}
