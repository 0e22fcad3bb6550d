import type { RequestRecord } from '@prism-gateway/protocol';
import type { FindSignatures } from '../checks/findNonce.ts';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import { type AskGatewayPorts, isOwnClaim, readRecord } from './confirmClaim.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { BegunRequest } from './openRequest.ts';
import { runLimited } from './runLimited.ts';
import { isStale, type TakeOverPorts, takeOverStale } from './takeOverStale.ts';

/** Most own claims that are looked up at once. */
const MAX_LOOKUPS = 8;

export interface AdoptPorts extends AskGatewayPorts {
  readonly gateway: Pick<RequestGateway, 'processing' | 'read'>;
  readonly findSignatures: FindSignatures;
  readonly journal: Pick<Journal, 'get' | 'adopt'>;
  readonly inFlight: Pick<InFlight, 'has' | 'take' | 'drop' | 'note' | 'run'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  /** The relayer's address, in lower case. */
  readonly relayer: string;
  /** Whether another process uses the key: then it is that one which is at work on claims that the journal does not know. */
  readonly isKeyShared: () => boolean;
  readonly takingOver: TakeOverPorts;
  readonly advance: (requestIds: readonly string[]) => void;
  readonly now: () => number;
}

/** Asks the gateway once more: the list may be older than this relayer's own report. Then it becomes `claimed`. */
async function adopt(ports: AdoptPorts, request: BegunRequest): Promise<void> {
  const { journal, inFlight, notes, relayer, now, signal, advance } = ports;
  const { requestId } = request;
  const record = await readRecord(ports, requestId);
  if (signal.aborted || record === undefined || !isOwnClaim(relayer, record)) return inFlight.drop(requestId);
  journal.adopt(request);
  inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  notes.log.info({ requestId }, 'own claim found at the gateway');
  advance([requestId]);
}

async function adoptOwn(ports: AdoptPorts, record: RequestRecord): Promise<void> {
  const { journal, inFlight, findSignatures, now } = ports;
  const { requestId } = record;
  const signatures = await findSignatures(record);
  // Meanwhile a round may have taken it.
  if (signatures === undefined || inFlight.has(requestId) || journal.get(requestId) !== undefined) return;
  const claimedAtMs = record.claimedAt === undefined ? now() : Date.parse(record.claimedAt);
  const request = { requestId, record, signatures, gas: undefined, claimedAtMs };
  // Before the gateway is asked: from here on nothing else takes it.
  inFlight.take(request);
  inFlight.run(adopt(ports, request));
}

async function adoptAll(ports: AdoptPorts): Promise<void> {
  const { gateway, inFlight, relayer, takingOver } = ports;
  for await (const page of gateway.processing()) {
    const unknown = page.filter(({ requestId }) => !inFlight.has(requestId));
    const own = ports.isKeyShared() ? [] : unknown.filter((record) => isOwnClaim(relayer, record));
    await runLimited({ list: own, limit: MAX_LOOKUPS, act: (record) => adoptOwn(ports, record) });
    const others = unknown.filter((record) => !isOwnClaim(relayer, record) && isStale(takingOver, record));
    await takeOverStale(takingOver, others);
  }
}

/**
 * Looks at the gateway for claims that need somebody: those of this relayer that its journal does not know, as after the loss of its
 * disk, and those of relayers that have gone silent. The signal ends it.
 *
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function adoptClaims(ports: AdoptPorts): Promise<void> {
  try {
    await adoptAll(ports);
  } catch (error) {
    if (!ports.signal.aborted) throw error;
  }
}
