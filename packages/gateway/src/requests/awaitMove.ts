import type { RequestStatus } from '@prism-gateway/protocol';
import type { RequestStore, StoredRequest } from '../ports/requestStore.ts';
import type { WaitTiming } from '../ports/waitTiming.ts';
import type { Waits } from '../push/createWaits.ts';
import { RequestNotFoundError } from './errors.ts';

export interface MovePorts {
  readonly requests: RequestStore;
  readonly waits: Waits;
}

/** A wait for another status than the one that is known. */
export interface MoveOrder {
  readonly requestId: string;
  readonly status: RequestStatus;
  /** Whose wait it is. */
  readonly client: string;
  readonly waitSeconds: number;
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly timing: WaitTiming;
}

/**
 * Waits until a request has another status than the one that is known.
 *
 * @returns the record with another status, or after the wait as it is
 * @throws RequestNotFoundError, TooManyWaitsError
 * @see docs/specification.md WAIT-1
 */
export function awaitMove(ports: MovePorts, order: MoveOrder): Promise<StoredRequest> {
  const { requestId, status, ...wait } = order;
  const interest = { requestId: requestId.toLowerCase(), status };
  async function look() {
    const found = await ports.requests.get(requestId);
    if (found === undefined) throw new RequestNotFoundError(requestId);
    return found.status === status ? { found, interest } : { found };
  }
  return ports.waits.until({ look, ...wait });
}
