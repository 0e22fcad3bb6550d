import type { RequestRecord } from '@prism-gateway/protocol';
import { createBackOff } from '@prism-gateway/runtime';
import { isGatewayError } from '@prism-gateway/sdk';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import { leaveUnclaimed } from './claimRequests.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { OpenRequest } from './openRequest.ts';

/** Pauses between attempts to ask the gateway, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface AskGatewayPorts {
  readonly gateway: Pick<RequestGateway, 'read'>;
  readonly notes: Pick<ChainNotes, 'fault'>;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

interface ConfirmPorts extends AskGatewayPorts {
  readonly journal: Pick<Journal, 'judge' | 'move'>;
  readonly inFlight: Pick<InFlight, 'drop' | 'note'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  /** The relayer's address, in lower case. */
  readonly relayer: string;
  readonly now: () => number;
}

/** Whether the gateway says that a request is claimed by a relayer, and not reported. @param relayer - in lower case */
export function isOwnClaim(relayer: string, record: RequestRecord): boolean {
  return record.status === 'processing' && record.claimedBy?.toLowerCase() === relayer;
}

/** Reads a request until the gateway answers. @returns undefined where there is none, or the signal ended the asking */
export async function readRecord(ports: AskGatewayPorts, requestId: string): Promise<RequestRecord | undefined> {
  const { gateway, notes, random, signal } = ports;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      return await gateway.read(requestId);
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      if (!signal.aborted) notes.fault('gateway');
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/** `claiming` becomes `claimed` or `lost`; `claimed` stays so, or becomes `lost`. */
async function confirmOne(ports: ConfirmPorts, { requestId, state }: OpenRequest): Promise<readonly string[]> {
  const { journal, inFlight, notes, relayer, now, signal } = ports;
  const record = await readRecord(ports, requestId);
  if (signal.aborted) return [];
  const by = 'confirmClaim';
  if (record === undefined || !isOwnClaim(relayer, record)) {
    journal.move([{ requestId, to: 'lost', by, nowMs: now() }]);
    if (record?.status === 'pending') journal.judge([leaveUnclaimed(record, now())]);
    inFlight.drop(requestId);
    return [];
  }
  if (state === 'claiming') journal.move([{ requestId, to: 'claimed', by, nowMs: now() }]);
  inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  notes.log.info({ requestId }, 'claim resumed');
  return [requestId];
}

/**
 * Asks the gateway whose requests are whose claim had no answer, or was given before a restart: they are let go if not this relayer's.
 *
 * @param requests - `claiming` or `claimed`
 * @returns those that are this relayer's
 */
export async function confirmClaim(ports: ConfirmPorts, requests: readonly OpenRequest[]): Promise<readonly string[]> {
  return (await Promise.all(requests.map((request) => confirmOne(ports, request)))).flat();
}
