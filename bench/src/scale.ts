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
  /** Pending requests of another chain than the one that is listed. */
  readonly otherChain: number;
  readonly feedPosts: number;
  readonly racedPosts: number;
  readonly recoveries: number;
  readonly presigns: number;
  /** Jobs of one run of graphile-worker and of BullMQ: they differ in speed by a factor of five or more. */
  readonly graphileJobs: number;
  readonly bullJobs: number;
}

export const fullScale: Scale = {
  reads: 60_000,
  creates: 30_000,
  claims: 10_000,
  signs: 20_000,
  lives: 6_000,
  lists: 3_000,
  smallBacklog: 1_000,
  largeBacklog: 1_000_000,
  otherChain: 1_000_000,
  feedPosts: 1_500,
  racedPosts: 3_000,
  recoveries: 20_000,
  presigns: 4_000,
  graphileJobs: 3_000,
  bullJobs: 12_000,
};

export const quickScale: Scale = {
  reads: 15_000,
  creates: 8_000,
  claims: 3_000,
  signs: 5_000,
  lives: 1_500,
  lists: 500,
  smallBacklog: 1_000,
  largeBacklog: 50_000,
  otherChain: 100_000,
  feedPosts: 500,
  racedPosts: 500,
  recoveries: 5_000,
  presigns: 1_500,
  graphileJobs: 800,
  bullJobs: 3_000,
};
