import type { ActionParams } from '@prism-gateway/protocol';
import type { BlockHead, ForwarderPolicy } from '../chain/chainReader.ts';
import type { RelayerContext } from '../lifecycle/context.ts';
import type { RelayedRecord } from '../lifecycle/states.ts';
import { checkPolicy } from './checkRequest.ts';
import { feeInWei, highestPrice } from './fee.ts';
import { findExpiryAt, latestTimestamp, listSignedParts } from './findNonce.ts';
import type { Verdict } from './leaveReasons.ts';

/** Reads what needs no question of its own; many requests share the answers. @throws ChainError */
export async function readFacts({ chain: { state } }: RelayerContext): Promise<ChainFacts> {
  const [head, forwarder, seconds, finalitySeconds] = await Promise.all([
    state.head(),
    state.policy(),
    state.seconds(),
    state.finalitySeconds(),
  ]);
  return { head, forwarder, seconds, finalitySeconds };
}

/**
 * Evaluates requests by what they say themselves: action, sponsorship, time and fee. It recovers no signature, and asks the node nothing of
 * any of them.
 *
 * @returns verdicts by request id; none for those that nothing speaks against
 * @throws ChainError if the node does not answer what all are evaluated by
 */
export async function screenRequests(
  context: RelayerContext,
  records: readonly RelayedRecord[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  function note(record: RelayedRecord, verdict: Verdict | undefined): boolean {
    if (verdict !== undefined) verdicts.set(record.requestId, verdict);
    return verdict === undefined;
  }
  const allowed = records.filter((record) => note(record, checkPolicy(context, record)));
  if (allowed.length === 0) return verdicts;
  const facts = await readFacts(context);
  for (const record of allowed) note(record, screenRequest(context, { record, facts }));
  return verdicts;
}

/** Less gas than any request uses by itself: a transaction's own, and a signature's check. */
const LEAST_GAS = 40_000n;

/** The state of the chain, for any request. */
export interface ChainFacts {
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Earliest Unix time in seconds that the next block is expected to have. */
  readonly seconds: bigint;
  /** How long it takes until what is sent now is mined, and as deep as it has to be, in seconds. */
  readonly finalitySeconds: bigint;
}

/** The fee that a request offers at most: of a multi-user batch, what its entries would pay together. */
function sumOffered({ action, params }: RelayedRecord): bigint {
  if (action !== 'BATCH_MULTI_USER_WRITE_DATA') return BigInt(params.relayerFee);
  // Action and params go together in a record.
  const { requests } = params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  return requests.reduce((sum, { relayerFee }) => sum + BigInt(relayerFee), 0n);
}

/**
 * Evaluates a request by what it says itself: its time and its fee. Anybody may post millions of them: no question to the node is spent
 * on one that cannot be carried out whatever the answer.
 *
 * @returns undefined if nothing speaks against it
 */
export function screenRequest(
  { policy, now }: RelayerContext,
  { record, facts }: { readonly record: RelayedRecord; readonly facts: ChainFacts },
): Verdict | undefined {
  const { head, forwarder, seconds, finalitySeconds } = facts;
  const { maxAge, isOfficial, priorityWindow } = forwarder;
  const errorMessage = findExpiryAt(record, { maxAge, seconds });
  if (errorMessage !== undefined) {
    const signatures = listSignedParts(record).map(({ signer, r, s }) => ({ signer, r, s, nonce: undefined }));
    return { kind: 'hopeless', signatures, errorMessage };
  }
  // Of a batch the latest one: until then some of it can be carried out.
  const latest = latestTimestamp(record);
  const closes = latest + maxAge;
  // It can still be sent, but not be mined as deep as it has to be before it closes.
  if (closes < seconds + finalitySeconds) {
    // One second later it is past its age, and ends with that as its reason.
    return { kind: 'leave', reason: 'closing', notBeforeMs: now() + Number(closes + 1n - seconds) * 1000 };
  }
  const waitSeconds = latest + (isOfficial ? 0n : priorityWindow) - seconds;
  if (waitSeconds > 0n) {
    return { kind: 'leave', reason: 'early', notBeforeMs: now() + Number(waitSeconds) * 1000 };
  }
  const { shareBps } = forwarder;
  const feeWei = feeInWei({ credits: sumOffered(record), shareBps, creditsPerEth: policy.creditsPerEth });
  const paysAtWei = highestPrice({ feeWei, gas: LEAST_GAS, extraWei: 0n, marginPercent: policy.feeMarginPercent });
  if (paysAtWei >= head.gasPrice) return undefined;
  return { kind: 'leave', reason: 'fee', paysAtWei };
}

/**
 * Whether a request is past the Forwarder's maximal age, whatever else may speak for or against it.
 *
 * @returns the Forwarder's reason; undefined if one of its signatures may still be taken
 * @throws ChainError
 */
export async function findExpiry(
  { chain: { state } }: RelayerContext,
  record: RelayedRecord,
): Promise<string | undefined> {
  const [{ maxAge }, seconds] = await Promise.all([state.policy(), state.seconds()]);
  return findExpiryAt(record, { maxAge, seconds });
}
