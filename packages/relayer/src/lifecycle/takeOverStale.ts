import type { RequestRecord } from '@prism-gateway/protocol';
import { ChainError } from '../chain/chainError.ts';
import type { CheckRequests } from '../checks/checkRequests.ts';
import { createNonceSearch } from '../checks/createNonceSearch.ts';
import type { FindSignatures } from '../checks/findNonce.ts';
import type { FindExpiry } from '../checks/screenRequests.ts';
import type { LeaveReason, Verdict } from '../checks/verdict.ts';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { AskChain } from './askChain.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { SignatureRef } from './openRequest.ts';
import { runLimited } from './runLimited.ts';

/** Most claims that the chain is asked for at once. */
const MAX_LOOKUPS = 8;

export interface TakeOverPorts {
  readonly gateway: Pick<RequestGateway, 'claim'>;
  readonly askChain: AskChain;
  readonly check: CheckRequests;
  readonly findExpiry: FindExpiry;
  readonly findSignatures: FindSignatures;
  readonly journal: Pick<Journal, 'get' | 'begin' | 'move'>;
  readonly inFlight: Pick<InFlight, 'size' | 'has' | 'take' | 'drop' | 'run'>;
  readonly policy: Pick<RelayPolicy, 'takeOverMs' | 'giveUpMs'>;
  readonly settings: Pick<ChainSettings, 'maxInFlight'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly advance: (requestIds: readonly string[]) => void;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** A request of a relayer that has gone silent. */
interface Stale {
  readonly record: RequestRecord;
  readonly signatures: readonly SignatureRef[];
}

/** Reasons that say, too, that nothing of the request is on the chain. */
const OPEN_REASONS: ReadonlySet<LeaveReason> = new Set(['early', 'nonceAhead', 'fee']);

const ageMs = ({ now }: Pick<TakeOverPorts, 'now'>, { claimedAt }: RequestRecord) =>
  claimedAt === undefined ? 0 : now() - Date.parse(claimedAt);

/** Whether a claim has not been reported in time, where the gateway's claims are leases. */
export function isStale(ports: Pick<TakeOverPorts, 'now' | 'policy'>, record: RequestRecord): boolean {
  const { takeOverMs } = ports.policy;
  return takeOverMs > 0 && ageMs(ports, record) > takeOverMs;
}

/** What this relayer would leave as a pending request it leaves here, too, unless there is something to report. */
async function isWorthTaking(ports: TakeOverPorts, stale: Stale, verdict: Verdict): Promise<boolean> {
  if (verdict.kind !== 'leave' || (await ports.findExpiry(stale.record)) !== undefined) return true;
  if (OPEN_REASONS.has(verdict.reason)) return false;
  const { kind } = await ports.askChain(stale);
  if (kind === 'executed' || kind === 'replaced') return true;
  const { takeOverMs, giveUpMs } = ports.policy;
  return kind === 'open' && verdict.reason === 'reverts' && ageMs(ports, stale.record) > takeOverMs + giveUpMs;
}

/** One that cannot be judged does not hold the others up; it is looked at again. */
async function isWorthTakingNow(ports: TakeOverPorts, stale: Stale, verdict: Verdict | undefined): Promise<boolean> {
  try {
    return verdict !== undefined && (await isWorthTaking(ports, stale, verdict));
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    ports.notes.fault('chain');
    return false;
  }
}

/** `claiming` becomes `claimed` or `lost`: the gateway decides whether the lease of the other is over. */
async function takeOver(ports: TakeOverPorts, requestId: string): Promise<void> {
  const { gateway, journal, inFlight, notes, now, advance } = ports;
  const result = (await gateway.claim([requestId])).get(requestId);
  if (result === 'conflict') {
    journal.move([{ requestId, to: 'lost', by: 'takeOverStale', nowMs: now() }]);
    return inFlight.drop(requestId);
  }
  // The gateway is asked whose it is, and then the chain what became of it.
  notes.log.info({ requestId }, 'claim of another relayer taken over');
  advance([requestId]);
}

async function listStale(ports: TakeOverPorts, records: readonly RequestRecord[]): Promise<readonly Stale[]> {
  const known = records.map(async (record) => ({ record, signatures: await ports.findSignatures(record) }));
  return (await Promise.all(known)).filter((each): each is Stale => each.signatures !== undefined);
}

/**
 * Takes over claims of relayers that have gone silent: those that this relayer would claim if they were pending, those that the chain
 * shows to be carried out, and those that can only be reported failed.
 *
 * @param records - stale, and claimed by others
 * @throws ChainError where the node does not answer
 */
export async function takeOverStale(ports: TakeOverPorts, records: readonly RequestRecord[]): Promise<void> {
  const { journal, inFlight, notes, now, settings, signal } = ports;
  const isFull = () => signal.aborted || inFlight.size >= settings.maxInFlight;
  if (records.length === 0 || isFull()) return;
  const stale = await listStale(ports, records);
  const candidates = stale.map(({ record, signatures }) => ({ record, search: createNonceSearch(record, signatures) }));
  const { verdicts, failures } = await ports.check({ candidates });
  for (const [requestId, { message }] of failures) {
    notes.fault('judge');
    notes.log.warn({ requestId, reason: message }, 'not judged');
  }
  await runLimited({
    list: stale,
    limit: MAX_LOOKUPS,
    async act(one) {
      const { record, signatures } = one;
      const { requestId } = record;
      if (isFull() || !(await isWorthTakingNow(ports, one, verdicts.get(requestId)))) return;
      // Meanwhile a round may have taken it, or the last room.
      if (isFull() || inFlight.has(requestId) || journal.get(requestId) !== undefined) return;
      const request = { requestId, record, signatures, gas: undefined, claimedAtMs: now() };
      inFlight.take(request);
      journal.begin([request], 'takeOverStale');
      inFlight.run(takeOver(ports, requestId));
    },
  });
}
