import { setTimeout as pause } from 'node:timers/promises';
import { payoutsAbi } from '@prism-gateway/contracts';
import { type Hex, zeroAddress } from 'viem';
import { tellPayment } from '../alerts/tellPayment.ts';
import { markPayout } from '../chain/marks.ts';
import type { PlacedMark } from '../journal/createMarkTable.ts';
import type { Payment } from '../journal/payment.ts';
import { StepError } from '../StepError.ts';
import type { RelayerContext } from './relayerContext.ts';

/** Blocks that settle a payout, the including one counted. */
export const PAYOUT_CONFIRMATIONS = 2;
/** Polls for which a look at the chain serves, for what another instance has paid: nobody waits for it. */
export const FRESH_POLLS = 5;

/** Whether the contract `Payouts` has paid a mark; where there is none, nobody can say. */
async function isMarkUsed({ client, config }: RelayerContext, mark: Hex): Promise<boolean> {
  const { payouts } = config;
  if (payouts === undefined) return false;
  const read = { address: payouts, abi: payoutsAbi, functionName: 'payerOf', args: [mark] } as const;
  return (await client.readContract(read)) !== zeroAddress;
}

/**
 * Searches the chain for a payout of a payment, by whatever known relayer.
 *
 * @param context - with the search
 * @param payment - not yet paid, as far as is known
 * @returns the payout, deep enough; undefined where there is none
 * @throws NodeBehindError, StepError `CHAIN_UNAVAILABLE` where it cannot be known now; viem's errors
 */
export async function findPayout(context: RelayerContext, payment: Payment): Promise<PlacedMark | undefined> {
  const mark = markPayout(payment.paymentIntentId);
  const isPaid = await isMarkUsed(context, mark);
  for (;;) {
    const { headBlock } = await context.search.search();
    const payout = context.journal.marks.find(mark).find(({ kind }) => kind === 'payout');
    if (payout === undefined && isPaid)
      throw new StepError(
        'CHAIN_UNAVAILABLE',
        'The contract Payouts says that it is paid, and the logs do not show it.',
      );
    if (payout === undefined || headBlock - payout.blockNumber + 1 >= PAYOUT_CONFIRMATIONS) return payout;
    await pause(context.config.rpcPollIntervalMs, undefined, { signal: context.signal });
  }
}

/**
 * Takes in a payout that was found on the chain.
 *
 * @param context - with journal and alerts
 * @param params - the payment and what was found
 */
export function takePayout(
  context: RelayerContext,
  params: { readonly payment: Payment; readonly payout: PlacedMark },
): void {
  const { payment, payout } = params;
  const { paymentIntentId, walletAddress } = payment;
  const { journal, log } = context;
  if (payout.recipient?.toLowerCase() !== walletAddress.toLowerCase()) {
    const reason = `A payout with its mark went to ${payout.recipient}, not to ${walletAddress}.`;
    journal.commit(() => {
      journal.move(paymentIntentId, 'held', { reason });
      tellPayment(context, {
        paymentIntentId,
        alert: {
          code: 'PAYOUT_TO_ANOTHER',
          severity: 'critical',
          subject: `Payment ${paymentIntentId} is held: it was paid to another wallet`,
          text: `${reason} Transaction: ${payout.txHash}. Find out which wallet is right before anything else is paid.`,
        },
      });
    });
    return;
  }
  log.info({ paymentIntentId, txHash: payout.txHash, paidBy: payout.sender }, 'payout found on the chain');
  journal.move(paymentIntentId, 'transferred', { txHash: payout.txHash, paidBy: payout.sender });
}
