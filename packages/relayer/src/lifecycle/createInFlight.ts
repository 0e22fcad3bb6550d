import { type OpenRequest, takeFingerprint } from './openRequest.ts';

/** Why the very transaction of a request would not carry it out although its checks say otherwise, in Unix milliseconds. */
interface Refusal {
  readonly reason: string;
  /** The first time in a row. */
  readonly sinceMs: number;
  /** The last time. */
  readonly lastMs: number;
}

/** What is known of an open request beyond its journal, since it was claimed in this life of the process. */
export type Standing = {
  /** Its checks may say otherwise: a wallet can tell them from a transaction. */
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
      /** This relayer's for certain; in the way of it is something. */
      readonly kind: 'blocked';
      /** Since when, in Unix milliseconds; 0: beyond all patience. */
      readonly sinceMs: number;
    }
);

type Taken = Pick<OpenRequest, 'requestId' | 'record' | 'signatures' | 'gas'>;

/** What a relayer has under way on one chain: in memory, made anew from the journal at a start. */
export interface InFlight {
  /** Requests claimed, or being claimed, and not yet reported. */
  readonly size: number;
  /** Whether a request of this signer is under way that has to end before one of a nonce. @param nonce - undefined: not known */
  isBusy(signer: string, nonce: bigint | undefined): boolean;
  has(requestId: string): boolean;
  /** How many requests are under way whose signer is one of these. */
  countSigners(isMeant: (signer: string) => boolean): number;
  /** Whether the very same request is under way. @see takeFingerprint */
  carries(fingerprint: string): boolean;
  /** Takes a request on. */
  take(request: Taken): void;
  /** Lets a request go, reported or lost. */
  drop(requestId: string): void;
  /** Notes what was found out about a request that is under way. */
  note(requestId: string, standing: Standing): void;
  /** @returns undefined where nothing is known: it was claimed before a restart, or its claim had no answer */
  standing(requestId: string): Standing | undefined;
  /** Gas of all that may still have to be paid. */
  reservedGas(): bigint;
  /** Keeps work that runs beside the rounds until it has ended; what it throws goes to `onFault`. */
  run(work: Promise<void>): void;
  /** Resolves when no work runs. */
  idle(): Promise<void>;
}

/**
 * Makes the record of what is under way; at first nothing is.
 *
 * @param onFault - told of work that failed without knowing why: a defect
 */
export function createInFlight(
  onFault: (error: unknown) => void,
  onDrop: (requestId: string) => void = () => undefined,
): InFlight {
  const taken = new Map<string, Taken>();
  const standings = new Map<string, Standing>();
  const busy = new Map<string, (bigint | undefined)[]>();
  const carried = new Map<string, number>();
  const running = new Set<Promise<void>>();
  function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
    const next = (counts.get(key) ?? 0) + change;
    if (next > 0) counts.set(key, next);
    else counts.delete(key);
  }
  function count({ record, signatures }: Taken, change: 1 | -1): void {
    add(carried, takeFingerprint(record), change);
    for (const { signer, nonce } of signatures) {
      const nonces = busy.get(signer) ?? [];
      if (change === 1) busy.set(signer, [...nonces, nonce]);
      else nonces.splice(nonces.indexOf(nonce), 1);
      if (change === -1 && nonces.length === 0) busy.delete(signer);
    }
  }
  return {
    get size() {
      return taken.size;
    },
    // What is in its turn has all before it on the chain already, if not deep enough yet.
    isBusy: (signer, nonce) =>
      busy.get(signer)?.some((own) => own === undefined || nonce === undefined || own >= nonce) ?? false,
    has: (requestId) => taken.has(requestId),
    countSigners: (isMeant) => [...taken.values()].filter(({ record }) => isMeant(record.signer)).length,
    carries: (fingerprint) => carried.has(fingerprint),
    take(request) {
      if (taken.has(request.requestId)) return;
      taken.set(request.requestId, request);
      count(request, 1);
    },
    drop(requestId) {
      standings.delete(requestId);
      onDrop(requestId);
      const request = taken.get(requestId);
      if (request === undefined) return;
      taken.delete(requestId);
      count(request, -1);
    },
    note: (requestId, standing) => void standings.set(requestId, standing),
    standing: (requestId) => standings.get(requestId),
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
