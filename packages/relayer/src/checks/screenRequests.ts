import type { ActionParams } from '@prism-gateway/protocol';
import type { BlockHead, ForwarderPolicy } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import { type CheckContext, checkPolicy } from './checkRequest.ts';
import { feeInWei, highestPrice } from './fee.ts';
import { listSignedParts } from './findNonce.ts';
import type { Verdict } from './verdict.ts';

/** What the screening of many requests goes by. */
export interface ScreensContext extends Pick<CheckContext, 'policy' | 'settings' | 'now'> {
  readonly state: Pick<ChainState, 'head' | 'policy' | 'seconds' | 'settleSeconds'>;
}

/** Screens requests of one chain. @see screenRequests */
export type ScreenRequests = (records: readonly RelayedRecord[]) => Promise<ReadonlyMap<string, Verdict>>;

/** Reads what needs no question of its own; many requests share the answers. @throws ChainError */
export async function readFacts({ state }: Pick<ScreensContext, 'state'>): Promise<ChainFacts> {
  const [head, forwarder, seconds, settleSeconds] = await Promise.all([
    state.head(),
    state.policy(),
    state.seconds(),
    state.settleSeconds(),
  ]);
  return { head, forwarder, seconds, settleSeconds };
}

/**
 * Judges requests by what they say themselves: action, sponsorship, time and fee. It recovers no signature, and asks the node nothing of
 * any of them.
 *
 * @returns verdicts by request id; none for those that nothing speaks against
 * @throws ChainError where the node does not tell what all are judged by
 */
export async function screenRequests(
  context: ScreensContext,
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

/** Pause before a request that pays too little is looked at again, in milliseconds. */
const FEE_PAUSE_MS = 10_000;

/** What a request is screened by. */
interface ScreenContext {
  readonly policy: Pick<RelayPolicy, 'feeMarginPercent'>;
  readonly settings: Pick<ChainSettings, 'creditsPerEth'>;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** What is known of the chain, of whatever request. */
export interface ChainFacts {
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Earliest Unix time in seconds that the next block is expected to have. */
  readonly seconds: bigint;
  /** How long it takes until what is sent now is mined, and as deep as it has to be, in seconds. */
  readonly settleSeconds: bigint;
}

/** The fee that a request offers at most: of a multi-user batch, what its entries would pay together. */
function sumOffered({ action, params }: RelayedRecord): bigint {
  if (action !== 'BATCH_MULTI_USER_WRITE_DATA') return BigInt(params.relayerFee);
  // Action and params go together in a record.
  const { requests } = params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  return requests.reduce((sum, { relayerFee }) => sum + BigInt(relayerFee), 0n);
}

/** @returns the second in which a request closes that can still be sent, but not be mined as deep as it has to be before that */
function findClosing(
  times: readonly bigint[],
  { forwarder, seconds, settleSeconds }: Pick<ChainFacts, 'forwarder' | 'seconds' | 'settleSeconds'>,
): bigint | undefined {
  // Of a batch the last one: until then some of it can be carried out.
  const [latest = 0n] = times.toSorted((a, b) => (a < b ? 1 : -1));
  const closes = latest + forwarder.maxAge;
  return closes < seconds + settleSeconds ? closes : undefined;
}

/**
 * Judges a request by what it says itself: its time and its fee. Anybody may post millions of them: no question to the node is spent
 * on one that cannot be carried out whatever the answer.
 *
 * @returns undefined where nothing speaks against it
 */
export function screenRequest(
  { policy, settings, now }: ScreenContext,
  { record, facts }: { readonly record: RelayedRecord; readonly facts: ChainFacts },
): Verdict | undefined {
  const { head, forwarder, seconds, settleSeconds } = facts;
  const times = listSignedParts(record).map(({ params }) => BigInt(params.timestamp));
  const signatures = listSignedParts(record).map(({ signer, r, s }) => ({ signer, r, s, nonce: undefined }));
  if (times.every((time) => time + forwarder.maxAge < seconds)) {
    const [first = 0n] = times;
    return { kind: 'settle', signatures, errorMessage: `RequestExpired(${first + forwarder.maxAge})` };
  }
  const closing = findClosing(times, { forwarder, seconds, settleSeconds });
  if (closing !== undefined) {
    // One second later it is past its age, and ends with that as its reason.
    return { kind: 'leave', reason: 'closing', recheckAtMs: now() + Number(closing + 1n - seconds) * 1000 };
  }
  const delay = forwarder.isOfficial ? 0n : forwarder.priorityWindow;
  // One by one, as numbers would lose digits of a uint256.
  const latest = times.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n;
  if (latest + delay > seconds) {
    const waitSeconds = latest + delay - seconds;
    // Beyond a day, the day after is soon enough to look again.
    const waitMs = waitSeconds > 86_400n ? 86_400_000 : Number(waitSeconds) * 1000;
    return { kind: 'leave', reason: 'early', recheckAtMs: now() + waitMs };
  }
  const { shareBps } = forwarder;
  const feeWei = feeInWei({ credits: sumOffered(record), shareBps, creditsPerEth: settings.creditsPerEth });
  const paysAtWei = highestPrice({ feeWei, gas: LEAST_GAS, extraWei: 0n, marginPercent: policy.feeMarginPercent });
  if (paysAtWei >= head.gasPrice) return undefined;
  return { kind: 'leave', reason: 'fee', recheckAtMs: now() + FEE_PAUSE_MS, paysAtWei };
}

/** @see findExpiry */
export type FindExpiry = (record: RelayedRecord) => Promise<string | undefined>;

/**
 * Tells whether a request is past the Forwarder's maximal age, whatever else may speak for or against it.
 *
 * @returns the Forwarder's reason; undefined where one of its signatures may still be taken
 * @throws ChainError
 */
export async function findExpiry(
  { state }: { readonly state: Pick<ChainState, 'policy' | 'seconds'> },
  record: RelayedRecord,
): Promise<string | undefined> {
  const [{ maxAge }, seconds] = await Promise.all([state.policy(), state.seconds()]);
  const ends = listSignedParts(record).map(({ params }) => BigInt(params.timestamp) + maxAge);
  return ends.every((end) => end < seconds) ? `RequestExpired(${ends[0]})` : undefined;
}
