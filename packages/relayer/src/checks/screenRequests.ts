import type { ChainState } from '../chain/watchChain.ts';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';
import { type CheckContext, checkPolicy } from './checkRequest.ts';
import { type ChainFacts, screenRequest } from './screenRequest.ts';
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
 * @param context - settings, clock, and what is known of the chain
 * @param records - requests
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
