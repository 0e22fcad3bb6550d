import { setTimeout as pause } from 'node:timers/promises';
import { payoutsAbi } from '@prism-gateway/contracts';
import { type Address, type Hash, type Hex, type PublicClient, zeroAddress } from 'viem';
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

/**
 * Names the journal's fact through which contract `Payouts` a payout went: that one never pays its mark twice.
 *
 * @param txHash - the payout
 * @returns the fact's name
 */
export function throughContractFact(txHash: Hash): string {
  return `through Payouts:${txHash}`;
}

/** A payout, and the contract that has made it; absent: a plain transfer, or a contract that is no longer the one. */
export type FoundPayout = PlacedMark & { readonly contract?: Address | undefined };

/**
 * Looks for a payout of a payment: through the contract `Payouts` by whichever payer, else by a transfer of whatever known relayer.
 *
 * @param context - with the search
 * @param payment - not yet paid, as far as is known
 * @returns the payout, deep enough; undefined where there is none
 * @throws NodeBehindError, StepError `CHAIN_UNAVAILABLE` where it cannot be known now; viem's errors
 */
export async function findPayout(context: RelayerContext, payment: Payment): Promise<FoundPayout | undefined> {
  const { client, config, journal, search, signal } = context;
  const { payouts, searchFromBlock: fromBlock } = config;
  const mark = markPayout(payment.paymentIntentId);
  for (;;) {
    const paid = payouts === undefined ? undefined : await findPaid({ client, payouts, mark, fromBlock });
    const { headBlock } = await search.search();
    const payout = paid ?? journal.marks.find(mark).find(({ kind }) => kind === 'payout');
    if (payout === undefined) return undefined;
    if (headBlock - payout.blockNumber + 1 >= PAYOUT_CONFIRMATIONS) return { ...payout, contract: paid && payouts };
    await pause(config.rpcPollIntervalMs, undefined, { signal });
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
  params: { readonly payment: Payment; readonly payout: FoundPayout },
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
  journal.commit(() => {
    if (payout.contract !== undefined) journal.setFact(throughContractFact(payout.txHash), payout.contract);
    journal.move(paymentIntentId, 'transferred', { txHash: payout.txHash, paidBy: payout.sender });
  });
}

/** Part of a range that is asked for next where a node does not answer for the whole: each limits blocks in its own words. */
const SMALLER = 4;

/**
 * Asks the contract `Payouts` who has paid a mark, with which transaction, and where.
 *
 * @param wanted - the contract, the mark, and the block that its first payout is not before
 * @returns the payout, by whichever payer; undefined where nobody has paid
 * @throws StepError `CHAIN_UNAVAILABLE` where the contract says that it is paid and the logs do not show it; viem's errors
 * @see docs/payments.md, "Several instances"
 */
async function findPaid(wanted: {
  readonly client: PublicClient;
  readonly payouts: Address;
  readonly mark: Hex;
  readonly fromBlock: number;
}): Promise<PlacedMark | undefined> {
  const { client, payouts: address, mark } = wanted;
  const read = { address, abi: payoutsAbi, functionName: 'payerOf', args: [mark] } as const;
  if ((await client.readContract(read)) === zeroAddress) return undefined;
  const fromBlock = BigInt(wanted.fromBlock);
  let last = await client.getBlockNumber({ cacheTime: 0 });
  let range = last - fromBlock + 1n;
  while (last >= fromBlock) {
    const first = last - range + 1n > fromBlock ? last - range + 1n : fromBlock;
    try {
      const event = { address, abi: payoutsAbi, eventName: 'Paid', args: { mark }, strict: true } as const;
      const [paid] = await client.getContractEvents({ ...event, fromBlock: first, toBlock: last });
      if (paid !== undefined) {
        const { transactionHash: txHash, blockNumber, transactionIndex, args } = paid;
        // Lower case of an address is an address.
        const [sender, recipient] = [args.payer.toLowerCase() as Address, args.wallet.toLowerCase() as Address];
        const place = { blockNumber: Number(blockNumber), txIndex: transactionIndex };
        return { txHash, sender, kind: 'payout', mark, recipient, amount: args.amount, ...place };
      }
      last = first - 1n;
    } catch (error) {
      if (first === last) throw error;
      range = (last - first) / BigInt(SMALLER) + 1n;
    }
  }
  throw new StepError(
    'CHAIN_UNAVAILABLE',
    'The contract Payouts says that it is paid, and the logs from SEARCH_FROM_BLOCK on do not show it.',
  );
}
