import { hashCall, SenderError, type Sent } from '@prism-gateway/sender';
import type { ChainCall } from '../chain/calls.ts';
import type { Attempt, AttemptKind, Payment } from '../journal/payment.ts';
import type { PayerContext } from './payerContext.ts';

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: 'mined'; readonly sent: Sent }
  /** Nothing of it is on the chain, or ever will be. */
  | { readonly kind: 'void'; readonly reason: string; readonly error: SenderError };

/** After these the outcome is not known: the sender goes on when it is opened again. */
const UNSETTLED = ['CLOSED', 'JOURNAL_FAILED', 'INTENT_MISMATCH', 'INVALID_ARGUMENT'];

/**
 * Finds the attempt that is under way.
 *
 * @param payment - in a state that has one
 * @returns the attempt that was journalled last
 * @throws TypeError if there is none, which is a defect
 */
export function findOpenAttempt(context: PayerContext, payment: Payment): Attempt {
  const attempt = context.journal.attemptsOf(payment.paymentIntentId).findLast(({ state }) => state === 'open');
  if (attempt === undefined) throw new TypeError(`payment ${payment.paymentIntentId} has no attempt under way`);
  return attempt;
}

/** A balance that was not zero when gas was estimated may be zero by then: each that is filled again costs 17,100 more. */
const GAS_MARGIN = 2n;

/** Undefined: the sender says what is wrong with it. */
async function estimateGas({ client, config }: PayerContext, { to, data }: Attempt): Promise<bigint | undefined> {
  const estimated = await client.estimateGas({ account: config.self, to, data }).catch(() => undefined);
  return estimated === undefined ? undefined : estimated * GAS_MARGIN;
}

/**
 * Has the sender put a journalled attempt on the chain, or waits for it if it is at it already.
 *
 * @param params - the attempt, how deep it must be, and whether it waits for a lower gas price
 * @throws SenderError if the outcome is not known
 */
export async function sendAttempt(
  context: PayerContext,
  params: {
    readonly attempt: Attempt;
    readonly confirmations: number;
    readonly whenGasTooHigh: 'wait' | 'reject';
  },
): Promise<AttemptOutcome> {
  const { attempt, confirmations, whenGasTooHigh } = params;
  const { signal, memory } = context;
  const gasLimit = memory.gasLimits.get(attempt.kind) ?? (await estimateGas(context, attempt));
  try {
    const options = { confirmations, whenGasTooHigh, signal, label: `${attempt.kind} ${attempt.paymentIntentId}` };
    const sent = await context.sender.send(
      attempt.intentId,
      { to: attempt.to, data: attempt.data, ...(gasLimit === undefined ? {} : { gasLimit }) },
      options,
    );
    if (sent.status === 'success') memory.gasLimits.set(attempt.kind, sent.gasUsed * GAS_MARGIN);
    else memory.gasLimits.delete(attempt.kind);
    return { kind: 'mined', sent };
  } catch (error) {
    if (!(error instanceof SenderError) || UNSETTLED.includes(error.code)) throw error;
    memory.gasLimits.delete(attempt.kind);
    return { kind: 'void', reason: `${error.code}: ${error.message}`, error };
  }
}

/**
 * Names the next call of a payment at the sender. Where the journal of payments was lost and the sender's was not, names that the sender has
 * for other calls are passed over: under one of these, it would refuse this call for ever.
 */
export function nextIntentId(
  { journal, sender }: Pick<PayerContext, 'journal' | 'sender'>,
  params: { readonly payment: Payment; readonly kind: AttemptKind; readonly call: ChainCall },
): string {
  const { payment, kind, call } = params;
  for (let count = payment.attempts + 1; ; count++) {
    const intentId = `${kind}:${count}:${payment.paymentIntentId}`;
    const known = sender.get(intentId);
    const hash = known?.callHash ?? (known?.call && hashCall(known.call));
    const isFree = known === undefined || hash === hashCall({ ...call, value: 0n });
    if (isFree && !journal.hasAttempt(intentId)) return intentId;
  }
}
