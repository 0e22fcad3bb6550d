import { setTimeout as pause } from 'node:timers/promises';
import { payoutsAbi } from '@prism-gateway/contracts';
import { type Address, type Hash, type Hex, zeroAddress } from 'viem';
import { alertPayment } from '../alerts/alertPayment.ts';
import { computeCreditsOwed } from '../amounts/computeCredits.ts';
import { formatCredits } from '../amounts/formatAmount.ts';
import { bindPayoutId, payoutIdOf } from '../chain/calls.ts';
import { isCounted } from '../chain/isCounted.ts';
import type { PlacedTransfer } from '../journal/createTransferTable.ts';
import type { Payment } from '../journal/payment.ts';
import type { MoveChanges } from '../journal/paymentWrites.ts';
import type { PayerConfig } from '../payerConfig.ts';
import { StepError } from '../StepError.ts';
import type { PayerContext } from './payerContext.ts';

/** Blocks that finalize a payout, the including one counted. */
export const PAYOUT_CONFIRMATIONS = 2;
/** Polls for which a look at the chain serves, for what another instance has paid: nobody waits for it. */
export const FRESH_POLLS = 5;

/** Names the journal's fact through which contract `Payouts` a payout went: that one never pays its payout id twice. */
export function throughContractFact(txHash: Hash): string {
  return `through Payouts:${txHash}`;
}

/** Names the journal's fact of the payouts for which a payment is held: what a person says of them, `release` carries out. */
export const suspectFact = (paymentIntentId: string) => `suspect:${paymentIntentId}`;

/** A reason why a payout is not taken for the payment's. */
type PayoutFault = 'sender' | 'wallet' | 'amount';

/** A payout, the contract that has made it (absent: a plain transfer), and what is wrong with it. */
export type FoundPayout = PlacedTransfer & {
  readonly contract?: Address | undefined;
  readonly fault?: PayoutFault | undefined;
};

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Whether an amount is what a claim owes, at its own rate or at any other that may be taken. */
export function isOwedAmount(
  { expectedRate, maxRateDeviationBps }: Pick<PayerConfig, 'expectedRate' | 'maxRateDeviationBps'>,
  { stablecoinAmount, creditsOwed }: Pick<Payment, 'stablecoinAmount' | 'creditsOwed'>,
  amount: bigint,
): boolean {
  if (amount === creditsOwed) return true;
  const unit = computeCreditsOwed(stablecoinAmount, 1n);
  if (unit === 0n || amount === 0n || amount % unit !== 0n) return false;
  const rate = amount / unit;
  const distance = rate > expectedRate ? rate - expectedRate : expectedRate - rate;
  return distance * 10_000n <= expectedRate * BigInt(maxRateDeviationBps);
}

function evaluate({ config }: PayerContext, payment: Payment, payout: FoundPayout): FoundPayout {
  const { self, others } = config;
  const isKnown = payout.contract !== undefined || [self, ...others].some((known) => isSame(known, payout.sender));
  const fault = !isKnown
    ? 'sender'
    : !isSame(payout.recipient, payment.walletAddress)
      ? 'wallet'
      : isOwedAmount(config, payment, payout.amount)
        ? undefined
        : 'amount';
  return { ...payout, fault };
}

/**
 * Looks for a payout of a payment: through the contract `Payouts` by whichever payer, else by a transfer to its wallet from anyone.
 *
 * @param payment - not yet paid, as far as is known
 * @returns the payout, deep enough; if none is in order, one with its fault; undefined if there is none at all
 * @throws NodeBehindError, StepError `CHAIN_UNAVAILABLE` if it cannot be known now; viem's errors
 */
export async function findPayout(context: PayerContext, payment: Payment): Promise<FoundPayout | undefined> {
  const { config, journal, search, signal } = context;
  const { payouts: contract } = config;
  const payoutId = payoutIdOf(payment.paymentIntentId);
  for (;;) {
    const { headBlock } = await search.search();
    const paid = contract === undefined ? undefined : await findPaid(context, { contract, payoutId, headBlock });
    // A payout through the contract for another frontend is none of this payment's: the contract knows.
    const found: readonly FoundPayout[] =
      paid === undefined
        ? journal.transfers
            .find(payoutId)
            .filter((one) => isCounted(context, one) && one.via !== contract?.toLowerCase())
        : [{ ...paid, contract }];
    const evaluated = found.map((one) => evaluate(context, payment, one));
    const payout = evaluated.find(({ fault }) => fault === undefined) ?? evaluated[0];
    if (payout === undefined) return undefined;
    if (headBlock - payout.blockNumber + 1 >= PAYOUT_CONFIRMATIONS) return payout;
    await pause(config.rpcPollIntervalMs, undefined, { signal });
  }
}

/** The alert on a payout that is not in order. */
const FAULTS: Readonly<
  Record<PayoutFault, { code: string; subject: string; describe(payment: Payment, payout: FoundPayout): string }>
> = {
  sender: {
    code: 'PAYOUT_BY_STRANGER',
    subject: 'somebody else has paid it',
    describe: (_, { sender, amount }) =>
      `${sender}, which RELAYER_ADDRESSES does not name, has paid ${formatCredits(amount)} credits with its payout id. If that is an instance of yours, stop one of the two, or name them and pay through Payouts; if it is forged, release the payment.`,
  },
  wallet: {
    code: 'PAYOUT_TO_ANOTHER',
    subject: 'it was paid to another wallet',
    describe: ({ walletAddress }, { recipient }) =>
      `A payout with its payout id went to ${recipient}, not to ${walletAddress}. Find out which wallet is right before anything else is paid.`,
  },
  amount: {
    code: 'PAYOUT_OF_ANOTHER_AMOUNT',
    subject: 'it was paid with another amount',
    describe: ({ creditsOwed = 0n }, { amount, sender }) =>
      `${sender} has paid ${formatCredits(amount)} credits, and ${formatCredits(creditsOwed)} are owed.`,
  },
};

function holdSuspect(context: PayerContext, payment: Payment, payout: FoundPayout, fault: PayoutFault): void {
  const { journal } = context;
  const { paymentIntentId } = payment;
  const { code, subject, describe } = FAULTS[fault];
  const reason = describe(payment, payout);
  const { txHash, contract } = payout;
  const hashes = [txHash, ...journal.transfers.find(payoutIdOf(paymentIntentId)).map((one) => one.txHash)];
  journal.commit(() => {
    journal.setFact(suspectFact(paymentIntentId), JSON.stringify({ hashes: [...new Set(hashes)], contract }));
    journal.move(paymentIntentId, 'held', { reason });
    alertPayment(context, {
      paymentIntentId,
      alert: {
        code,
        severity: 'critical',
        subject: `Payment ${paymentIntentId} is held: ${subject}`,
        text: `${reason} Transaction: ${txHash}. Nothing more is paid for it until a person has looked at it.`,
      },
    });
  });
}

/**
 * The payout of this instance that a payment had is gone for good: the books count it no more, or as another version of it that was mined.
 *
 * @param version - which paid in its place, and costs about the same
 */
export function reviseOwnPayout(
  { journal }: PayerContext,
  paymentIntentId: string,
  version?: Hash,
): Pick<MoveChanges, 'finalized'> {
  const txHash = journal.get(paymentIntentId)?.txHash;
  const own = journal
    .attemptsOf(paymentIntentId)
    .findLast((attempt) => attempt.kind === 'payout' && attempt.state === 'done' && attempt.txHash === txHash);
  if (own === undefined || txHash === undefined) return {};
  const { intentId, mined } = own;
  if (version === undefined) return { finalized: { intentId, state: 'void', txHash } };
  return { finalized: { intentId, state: 'done', txHash: version, ...(mined && { mined }) } };
}

/**
 * Takes in a payout that was found on the chain. One that is not in order holds the payment.
 *
 * @param params - the payment and what was found
 */
export function takePayout(
  context: PayerContext,
  params: { readonly payment: Payment; readonly payout: FoundPayout },
): void {
  const { payment, payout } = params;
  const { paymentIntentId } = payment;
  const { journal, log } = context;
  if (payout.fault !== undefined) {
    holdSuspect(context, payment, payout, payout.fault);
    return;
  }
  log.info({ paymentIntentId, txHash: payout.txHash, paidBy: payout.sender }, 'payout found on the chain');
  journal.commit(() => {
    if (payout.contract !== undefined) journal.setFact(throughContractFact(payout.txHash), payout.contract);
    journal.clearFact(suspectFact(paymentIntentId));
    const { txHash, sender: paidBy } = payout;
    const isOwn = isSame(paidBy, context.config.self);
    const changes =
      payment.txHash === txHash ? {} : reviseOwnPayout(context, paymentIntentId, isOwn ? txHash : undefined);
    journal.move(paymentIntentId, 'transferred', { txHash, paidBy, ...changes });
  });
}

/**
 * Asks the contract `Payouts` who has paid, as of one block, so that no node that is behind can answer; the search, or else the contract's
 * event, shows with which transaction.
 *
 * @throws StepError `CHAIN_UNAVAILABLE` if the contract says that it is paid and the logs do not show it; viem's errors
 */
async function findPaid(
  { client, config, journal, readFrontend }: PayerContext,
  wanted: { readonly contract: Address; readonly payoutId: Hex; readonly headBlock: number },
): Promise<PlacedTransfer | undefined> {
  const { contract: address, payoutId, headBlock } = wanted;
  const boundId = bindPayoutId(await readFrontend(), payoutId);
  const toBlock = BigInt(headBlock);
  const read = { address, abi: payoutsAbi, functionName: 'payerOf', args: [boundId], blockNumber: toBlock } as const;
  const payer = await client.readContract(read);
  if (payer === zeroAddress) return undefined;
  const seen = journal.transfers
    .find(payoutId)
    .find(({ sender, via = '0x' }) => isSame(sender, payer) && isSame(via, address));
  if (seen !== undefined) return seen;
  // It went to another wallet than the payment's.
  const event = { address, abi: payoutsAbi, eventName: 'Paid', args: { payoutId: boundId }, strict: true } as const;
  const [paid] = await client.getContractEvents({ ...event, fromBlock: BigInt(config.searchFromBlock), toBlock });
  if (paid === undefined)
    throw new StepError(
      'CHAIN_UNAVAILABLE',
      'The contract Payouts says that it is paid, and the logs from SEARCH_FROM_BLOCK on do not show it.',
    );
  const { transactionHash: txHash, blockNumber, transactionIndex: txIndex, args } = paid;
  // Lower case of an address is an address.
  const [sender, recipient] = [args.payer.toLowerCase() as Address, args.wallet.toLowerCase() as Address];
  return {
    txHash,
    sender,
    payoutId: payoutId,
    recipient,
    amount: args.amount,
    blockNumber: Number(blockNumber),
    txIndex,
  };
}
