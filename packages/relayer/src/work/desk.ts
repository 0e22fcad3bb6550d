import type { OpenRequest } from '../life/openRequest.ts';

/** What a relayer has under way on one chain: in memory, made anew from the journal at a start. */
export interface Desk {
  /** Requests claimed, or being claimed, and not yet reported. */
  readonly size: number;
  /** Whether a request of this signer is under way. */
  isBusy(signer: string): boolean;
  has(requestId: string): boolean;
  /** Takes a request on. */
  take(request: Pick<OpenRequest, 'requestId' | 'wishes' | 'gas'>): void;
  /** Lets a request go, reported or lost. */
  drop(requestId: string): void;
  /** Gas of all that may still have to be paid. */
  reservedGas(): bigint;
  /** Keeps work that runs beside the rounds until it has ended; what it throws goes to `onFault`. */
  run(work: Promise<void>): void;
  /** Resolves when no work runs. */
  idle(): Promise<void>;
}

/**
 * Makes an empty desk.
 *
 * @param onFault - told of work that failed without knowing why: a defect
 */
export function createDesk(onFault: (error: unknown) => void): Desk {
  const taken = new Map<string, Pick<OpenRequest, 'requestId' | 'wishes' | 'gas'>>();
  const busy = new Map<string, number>();
  const running = new Set<Promise<void>>();
  function count(signer: string, change: 1 | -1): void {
    const next = (busy.get(signer) ?? 0) + change;
    if (next > 0) busy.set(signer, next);
    else busy.delete(signer);
  }
  return {
    get size() {
      return taken.size;
    },
    isBusy: (signer) => busy.has(signer),
    has: (requestId) => taken.has(requestId),
    take(request) {
      if (taken.has(request.requestId)) return;
      taken.set(request.requestId, request);
      for (const { signer } of request.wishes) count(signer, 1);
    },
    drop(requestId) {
      const request = taken.get(requestId);
      if (request === undefined) return;
      taken.delete(requestId);
      for (const { signer } of request.wishes) count(signer, -1);
    },
    reservedGas: () => [...taken.values()].reduce((sum, { gas = 0n }) => sum + gas, 0n),
    run(work) {
      const kept = work.catch(onFault).finally(() => running.delete(kept));
      running.add(kept);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
