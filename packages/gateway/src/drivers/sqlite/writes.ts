import type { WindowCounts } from '../../ports/rateLimitStore.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';
import type { Claim, Report, StoredRequest, Transition } from '../../ports/requestStore.ts';

/** Hits of one client in one window that the database does not know yet. */
export interface UnsentHits {
  readonly key: string;
  readonly window: number;
  readonly hits: number;
}

/** Every write the store knows, with what it returns. */
export interface Writes {
  create: { readonly input: StoredRequest; readonly result: null };
  claim: { readonly input: Claim; readonly result: Transition };
  report: { readonly input: Report; readonly result: Transition };
  putRelayer: {
    readonly input: { readonly address: string; readonly label?: string; readonly now: number };
    readonly result: RelayerRecord;
  };
  removeRelayer: { readonly input: string; readonly result: null };
  countHits: { readonly input: readonly UnsentHits[]; readonly result: readonly WindowCounts[] };
}

export type WriteKind = keyof Writes;

/** One write on its way to the writer thread. */
export type WriteOrder = { [K in WriteKind]: { readonly kind: K; readonly input: Writes[K]['input'] } }[WriteKind];

/** What came of a write: its result, or why the whole commit failed. */
export type WriteOutcome = { readonly result: Writes[WriteKind]['result'] } | { readonly error: string };
