import type { Budgets } from '../budgets/createBudgets.ts';
import type { NonceGap } from '../checks/leaveReasons.ts';
import { createClaimRate } from './claimRate.ts';
import { createBatchCostTracker } from './gatherWrites.ts';
import { hashRequest, type OpenRequest } from './states.ts';

/** Why the very transaction of a request would not carry it out although its checks say otherwise, in Unix milliseconds. */
interface Refusal {
  readonly reason: string;
  /** The first time in a row. */
  readonly sinceMs: number;
  /** The last time. */
  readonly lastMs: number;
}

/** The state of an open request beyond its journal, since it was claimed in this life of the process. */
export type ClaimStatus = {
  /** Its checks may say otherwise: a wallet can distinguish them from a transaction. */
  readonly refusal?: Refusal;
} & (
  | {
      /** Checked a moment ago: it can be submitted if the price still allows it. */
      readonly kind: 'ready';
      readonly gas: bigint;
      /** The relayer's share of the fee, in wei. */
      readonly feeWei: bigint;
    }
  | {
      /** Claimed but blocked. */
      readonly kind: 'blocked';
      /** Since when, in Unix milliseconds; 0: beyond all patience. */
      readonly sinceMs: number;
      /** The forwarder nonce that was waited for beyond all patience. */
      readonly missing?: NonceGap | undefined;
    }
);

/** The untrusted requests that are evaluated beside the rounds: one batch at a time. */
interface UntrustedTurn {
  /** Those that are being evaluated, by their ids; none between two turns. */
  requestIds: ReadonlySet<string>;
  /** Ends with that. It never rejects. */
  last: Promise<void>;
  /** Whether the last round had requests of others to evaluate, too. */
  isShared: boolean;
  /** The error that it ended by, until the next round reports it. */
  fault: { readonly error: unknown } | undefined;
}

/** Claimed requests that wait for more of the same transaction. */
interface Gathering {
  requestIds: string[];
  timer: NodeJS.Timeout | undefined;
  held: PromiseWithResolvers<void>;
}

type Taken = Pick<OpenRequest, 'requestId' | 'record' | 'signatures' | 'gas'>;

/** A relayer's work under way on one chain, and its limits: in memory, made anew from the journal at a start. */
export type InFlight = ReturnType<typeof createInFlight>;

/**
 * Makes the record of what is under way; at first nothing is.
 *
 * @param options.onFault - notified of work that failed without knowing why: a defect
 */
export function createInFlight(options: { readonly budgets: Budgets; readonly onFault: (error: unknown) => void }) {
  const { budgets, onFault } = options;
  const taken = new Map<string, Taken>();
  const statuses = new Map<string, ClaimStatus>();
  const busy = new Map<string, (bigint | undefined)[]>();
  const carried = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const untrusted: UntrustedTurn = {
    requestIds: new Set(),
    last: Promise.resolve(),
    isShared: false,
    fault: undefined,
  };
  const gathering: Gathering = { requestIds: [], timer: undefined, held: Promise.withResolvers() };
  function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
    const next = (counts.get(key) ?? 0) + change;
    if (next > 0) counts.set(key, next);
    else counts.delete(key);
  }
  function count({ record, signatures }: Taken, change: 1 | -1): void {
    add(carried, hashRequest(record), change);
    for (const { signer, nonce } of signatures) {
      const nonces = busy.get(signer) ?? [];
      if (change === 1) busy.set(signer, [...nonces, nonce]);
      else nonces.splice(nonces.indexOf(nonce), 1);
      if (change === -1 && nonces.length === 0) busy.delete(signer);
    }
  }
  return {
    budgets,
    claimRate: createClaimRate(),
    batchCosts: createBatchCostTracker(),
    ...{ untrusted, gathering },
    /** Since when all that is sent would wait for cheaper gas, behind a transaction that may not offer more; by the clock that is never set. */
    line: { stuckSinceMs: undefined as number | undefined, unblockedAtMs: Number.NEGATIVE_INFINITY },
    /** One claiming at a time; the next look and its checks go on beside it. */
    claiming: { last: Promise.resolve() },
    /** Requests claimed, or being claimed, and not yet reported. */
    get size() {
      return taken.size;
    },
    /**
     * Whether a request of this signer is under way that has to end before one of a nonce: what is in its turn has all before it on the chain
     * already, if not deep enough yet.
     */
    isBusy: (signer: string, nonce: bigint | undefined): boolean =>
      busy.get(signer)?.some((own) => own === undefined || nonce === undefined || own >= nonce) ?? false,
    has: (requestId: string): boolean => taken.has(requestId),
    /** How many requests are under way whose signer is one of these. */
    countSigners: (isMeant: (signer: string) => boolean): number =>
      [...taken.values()].filter(({ record }) => isMeant(record.signer)).length,
    /** Whether the very same request is under way. @see hashRequest */
    carries: (fingerprint: string): boolean => carried.has(fingerprint),
    take(request: Taken): void {
      if (taken.has(request.requestId)) return;
      taken.set(request.requestId, request);
      count(request, 1);
    },
    /** Lets a request go, reported or lost. */
    drop(requestId: string): void {
      statuses.delete(requestId);
      budgets.release(requestId);
      const request = taken.get(requestId);
      if (request === undefined) return;
      taken.delete(requestId);
      count(request, -1);
    },
    /** Notes what was found out about a request that is under way. */
    note: (requestId: string, status: ClaimStatus): void => void statuses.set(requestId, status),
    /** Moves all times: the clock was set by `byMs`. */
    shiftTimes(byMs: number): void {
      for (const [requestId, { refusal, ...status }] of statuses) {
        // 0 is no time.
        const blocked = status.kind === 'blocked' && status.sinceMs > 0 && { sinceMs: status.sinceMs + byMs };
        const moved = refusal && { ...refusal, sinceMs: refusal.sinceMs + byMs, lastMs: refusal.lastMs + byMs };
        statuses.set(requestId, { ...status, ...blocked, ...(moved && { refusal: moved }) });
      }
    },
    /** Forgets what was found out: the gateway is to be asked whose the request is. */
    forget: (requestId: string): void => void statuses.delete(requestId),
    /** @returns undefined if nothing is known: it was claimed before a restart, or its claim had no answer */
    status: (requestId: string): ClaimStatus | undefined => statuses.get(requestId),
    /** How many requests are under way that are only to be reported failed. */
    countGivenUp: (): number =>
      [...statuses.values()].filter((status) => status.kind === 'blocked' && status.sinceMs === 0).length,
    /** Gas of all that may still have to be paid. */
    reservedGas: (): bigint => [...taken.values()].reduce((sum, { gas = 0n }) => sum + gas, 0n),
    /** Keeps work that runs beside the rounds until it has ended; what it throws goes to `onFault`. */
    run(work: Promise<void>): void {
      const kept = work.catch(onFault).finally(() => running.delete(kept));
      running.add(kept);
    },
    /** Resolves when no work runs. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
