import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { createNonceSearch } from '../checks/createNonceSearch.ts';
import { findExpiry } from '../checks/findExpiry.ts';
import { findWishes } from '../checks/findWishes.ts';
import type { LeaveReason, Verdict } from '../checks/verdict.ts';
import type { SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { askChain } from './askChain.ts';
import { resumeClaim } from './resumeRequests.ts';
import { runLimited } from './runLimited.ts';

/** Most claims that the chain is asked for at once. */
const MAX_LOOKUPS = 8;

/** A request of a relayer that has gone silent. */
interface Stale {
  readonly record: RequestRecord;
  readonly wishes: readonly SignedWish[];
}

/** Reasons that say, too, that nothing of the request is on the chain. */
const OPEN_REASONS: ReadonlySet<LeaveReason> = new Set(['early', 'nonceAhead', 'fee']);

const ageMs = ({ now }: Relay, { claimedAt }: RequestRecord) =>
  claimedAt === undefined ? 0 : now() - Date.parse(claimedAt);

/** Whether a claim has not been reported in time, where the gateway's claims are leases. */
export function isStale(relay: Relay, record: RequestRecord): boolean {
  const { takeOverMs } = relay.policy;
  return takeOverMs > 0 && ageMs(relay, record) > takeOverMs;
}

/** What this relayer would leave as a pending request it leaves here, too, unless there is something to report. */
async function isWorthTaking(relay: Relay, stale: Stale, verdict: Verdict): Promise<boolean> {
  if (verdict.kind !== 'leave' || (await findExpiry(relay, stale.record)) !== undefined) return true;
  if (OPEN_REASONS.has(verdict.reason)) return false;
  const { kind } = await askChain(relay, stale);
  if (kind === 'executed' || kind === 'replaced') return true;
  const { takeOverMs, giveUpMs } = relay.policy;
  return kind === 'open' && verdict.reason === 'reverts' && ageMs(relay, stale.record) > takeOverMs + giveUpMs;
}

/** One that cannot be judged does not hold the others up; it is looked at again. */
async function isWorthTakingNow(relay: Relay, stale: Stale, verdict: Verdict | undefined): Promise<boolean> {
  try {
    return verdict !== undefined && (await isWorthTaking(relay, stale, verdict));
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    relay.metrics.faults.inc({ chain: relay.settings.chainName, where: 'chain' });
    return false;
  }
}

/** Claims a request whose relayer has gone silent; the gateway decides whether its lease is over. */
async function takeOver(relay: Relay, requestId: string): Promise<void> {
  const { gateway, journal, desk, logger, now, signal } = relay;
  try {
    await gateway.claim(requestId, { signal });
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (error.code === 'CONFLICT') {
      journal.move([{ requestId, to: 'lost', nowMs: now() }]);
      return desk.drop(requestId);
    }
  }
  logger.info({ requestId }, 'claim of another relayer taken over');
  await resumeClaim(relay, requestId);
}

async function listStale(relay: Relay, records: readonly RequestRecord[]): Promise<readonly Stale[]> {
  const known = records.map(async (record) => ({ record, wishes: await findWishes(relay, record) }));
  return (await Promise.all(known)).filter((each): each is Stale => each.wishes !== undefined);
}

/**
 * Takes over claims of relayers that have gone silent: those that this relayer would claim if they were pending, those that the chain
 * shows to be carried out, and those that can only be reported failed.
 *
 * @param relay - the relayer on this chain
 * @param records - stale, and claimed by others
 * @throws ChainError where the node does not answer
 */
export async function takeOverStale(relay: Relay, records: readonly RequestRecord[]): Promise<void> {
  const { journal, desk, now, settings, signal } = relay;
  const isFull = () => signal.aborted || desk.size >= settings.maxInFlight;
  if (records.length === 0 || isFull()) return;
  const stale = await listStale(relay, records);
  const candidates = stale.map(({ record, wishes }) => ({ record, search: createNonceSearch(record, wishes) }));
  const verdicts = await checkRequests(relay, { candidates });
  await runLimited({
    list: stale,
    limit: MAX_LOOKUPS,
    async act(one) {
      const { record, wishes } = one;
      const { requestId } = record;
      if (isFull() || !(await isWorthTakingNow(relay, one, verdicts.get(requestId)))) return;
      // Meanwhile a round may have taken it, or the last room.
      if (isFull() || desk.has(requestId) || journal.get(requestId) !== undefined) return;
      const request = { requestId, record, wishes, gas: undefined, claimedAtMs: now() };
      desk.take(request);
      journal.begin([request]);
      desk.run(takeOver(relay, requestId));
    },
  });
}
