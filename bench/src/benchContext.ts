import type { BenchRelayer } from './load/loadRelayers.ts';
import type { Options } from './options.ts';

/** How much work each run does: enough that a run takes a second or more, so that start and end do not show. */
export interface Scale {
  readonly reads: number;
  readonly creates: number;
  readonly claims: number;
  readonly signs: number;
  readonly lives: number;
  readonly lists: number;
  readonly smallBacklog: number;
  readonly largeBacklog: number;
  readonly feedPosts: number;
  readonly recoveries: number;
  readonly presigns: number;
  readonly graphileJobs: number;
}

export const FULL_SCALE: Scale = {
  reads: 60_000,
  creates: 30_000,
  claims: 10_000,
  signs: 20_000,
  lives: 6_400,
  lists: 3_000,
  smallBacklog: 1_000,
  largeBacklog: 1_000_000,
  feedPosts: 1_500,
  recoveries: 20_000,
  presigns: 4_000,
  graphileJobs: 3_000,
};

export const QUICK_SCALE: Scale = {
  reads: 1_000,
  creates: 1_000,
  claims: 640,
  signs: 500,
  lives: 640,
  lists: 50,
  smallBacklog: 1_000,
  largeBacklog: 5_000,
  feedPosts: 50,
  recoveries: 1_000,
  presigns: 200,
  graphileJobs: 200,
};

/** Shared by every measure of the gateway. */
export interface BenchContext {
  readonly options: Options;
  readonly scale: Scale;
  /** Throwaway keys; `startGateway` whitelists them. */
  readonly relayers: readonly BenchRelayer[];
  /** Ends what the measure has started. */
  readonly stack: AsyncDisposableStack;
}
