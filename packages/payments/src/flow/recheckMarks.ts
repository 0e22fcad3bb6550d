import { type Address, type Hash, type Hex, pad } from 'viem';
import { tellPayment } from '../alerts/tellPayment.ts';
import { unsettleKey } from '../chain/createKeyWatch.ts';
import { TRANSFER_TOPIC } from '../chain/marks.ts';
import type { StrangeMark } from '../journal/createMarkTable.ts';
import type { Payment } from '../journal/payment.ts';
import { computeCreditsOwed } from '../payments/computeCredits.ts';
import type { RelayerContext } from './relayerContext.ts';

/** The fact that all marks of the journal are by relayers; what a search adds since is looked at when it is found. */
const CHECKED_FACT = 'marks: senders checked';
/** Receipts that are asked for at a time. */
const BATCH = 20;

/**
 * Names the journal's fact that the payout of a payment was a stranger's forgery.
 *
 * @param paymentIntentId - the payment
 * @returns the fact's name
 */
export function forgedFact(paymentIntentId: string): string {
  return `forged:${paymentIntentId}`;
}

interface RawReceipt {
  readonly logs: readonly { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

const isSame = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase();

/** Whether its sender has moved a token of its own by it, as relayers do: one that was named before, and is no longer. */
function hasMoved({ logs }: RawReceipt, mark: StrangeMark, tokens: readonly string[]): boolean {
  return logs.some(({ address, topics: [topic, from, to], data }) => {
    const isOwn = topic === TRANSFER_TOPIC && isSame(from, pad(mark.sender, { size: 32 }));
    if (!isOwn || !tokens.some((token) => isSame(address, token))) return false;
    if (mark.kind === 'announce') return true;
    const { recipient, amount = 0n } = mark;
    return (
      recipient !== undefined && isSame(to, pad(recipient, { size: 32 })) && amount > 0n && BigInt(data) === amount
    );
  });
}

/** @returns undefined where the node cannot say */
async function isForged({ client, config }: RelayerContext, mark: StrangeMark): Promise<boolean | undefined> {
  const receipt = (await client.request({
    method: 'eth_getTransactionReceipt',
    params: [mark.txHash],
  })) as unknown as RawReceipt | null;
  // Of what was never on the chain since, nothing is to be put back.
  if (receipt === null) return mark.blockNumber === undefined ? true : undefined;
  const [, credits = config.creditToken, stablecoin = config.stablecoin] = mark.scope.split(' ');
  return !hasMoved(receipt, mark, mark.kind === 'payout' ? [credits] : [credits, stablecoin]);
}

/** What it is owed by its claim; not by the amount that the stranger has chosen. */
function owedBy({ config }: RelayerContext, { stablecoinAmount, rate }: Payment): bigint {
  return computeCreditsOwed(stablecoinAmount, rate ?? config.expectedRate);
}

/**
 * Takes back that a payment is paid. One that nobody was told to be paid goes on by itself, if the chain has no payout of it. One that the
 * frontend has as paid is a person's: somebody may have made it good by hand.
 */
function putBack(context: RelayerContext, payment: Payment, forged: StrangeMark): void {
  const { journal } = context;
  const { paymentIntentId, walletAddress, state } = payment;
  const reason = `Its payout ${forged.txHash} is a forgery: ${forged.sender} is no relayer, and has moved no credits to ${walletAddress}.`;
  const changes = { reason, creditsOwed: owedBy(context, payment) };
  journal.setFact(forgedFact(paymentIntentId), forged.txHash);
  if (state === 'transferred') journal.move(paymentIntentId, 'held', changes);
  if (state !== 'vanished') journal.move(paymentIntentId, 'vanished', changes);
  const isTold = state === 'completed' || state === 'held';
  if (isTold) journal.move(paymentIntentId, 'held', changes);
  const next = isTold
    ? `If nobody has made it good by hand, release it: prism payments release ${paymentIntentId}. Else close it, with --refunded.`
    : 'It is paid once two looks at the whole chain have found no payout of it.';
  const alert = {
    code: 'PAYOUT_FORGED',
    severity: 'critical',
    subject: `Payment ${paymentIntentId} is not paid: its payout was a forgery`,
    text: `${reason} ${next}`,
  } as const;
  tellPayment(context, { paymentIntentId, alert });
}

/** States in which a payment may hold the forgery for its payout, and has nothing on its way. */
const STALE_STATES = ['claimed', 'bought', 'transferred', 'completed', 'vanished', 'held'] as const;

function takeForged(context: RelayerContext, forged: ReadonlyMap<Hash, StrangeMark>): void {
  const { journal, log, watch } = context;
  for (const txHash of forged.keys()) journal.marks.forget(txHash);
  const paid = journal.list(STALE_STATES).flatMap((payment) => {
    const mark = payment.txHash === undefined ? undefined : forged.get(payment.txHash);
    return mark === undefined ? [] : [{ payment, mark }];
  });
  for (const { payment, mark } of paid) putBack(context, payment, mark);
  log.warn({ forged: forged.size, paymentsPutBack: paid.length }, 'forged marks are taken out of the journal');
  // Everything is searched anew, twice, before anything is begun; what has stopped the key goes on to do so.
  if (watch.state() === 'ours') unsettleKey(journal);
}

/**
 * Looks once at marks that an earlier version has believed without looking at who sent them. What a stranger has sent, and has moved
 * nothing, is no payout of anybody, and what was completed by it is put back.
 *
 * @param context - the instance, before anything is begun
 * @throws NodeBehindError; viem's errors
 * @see docs/payments.md, "The search"
 */
export async function recheckMarks(context: RelayerContext): Promise<void> {
  const { journal, config } = context;
  if (journal.fact(CHECKED_FACT) !== undefined) return;
  const strange = journal.marks.listByStrangers([config.self, ...config.others]);
  // Its head and its newest blocks are compared with one another before it is asked.
  if (strange.length > 0) await context.search.search();
  const forged = new Map<Hash, StrangeMark>();
  let unclear = 0;
  for (let first = 0; first < strange.length; first += BATCH) {
    const batch = strange.slice(first, first + BATCH);
    const verdicts = await Promise.all(batch.map((mark) => isForged(context, mark)));
    for (const [place, mark] of batch.entries()) {
      if (verdicts[place] === true) forged.set(mark.txHash, mark);
      if (verdicts[place] === undefined) unclear++;
    }
  }
  journal.commit(() => {
    if (forged.size > 0) takeForged(context, forged);
    // What the node could not say is asked at the next start.
    if (unclear === 0) journal.setFact(CHECKED_FACT, 'all');
  });
}
