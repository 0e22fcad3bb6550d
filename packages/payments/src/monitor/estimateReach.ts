/** An account's balance at a time. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly balanceWei: bigint;
  /** The account nonce: how many transactions it has made. */
  readonly nonce: number;
}

/** How far a balance goes. */
export interface Reach {
  readonly transactions: number;
  /** Undefined if the samples are of one moment. */
  readonly days?: number;
}

/** Samples older than this say nothing about the recent rate. */
const WINDOW_MS = 86_400_000;
const MAX_SAMPLES = 500;
const DAY_MS = 86_400_000;

/** Adds a sample, and drops what is too old. */
export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const recent = samples.filter(({ atMs }) => sample.atMs - atMs <= WINDOW_MS);
  return [...recent, sample].slice(-MAX_SAMPLES);
}

/**
 * Estimates how far the last balance goes at the recent cost of a transaction: the middle one of the costs seen between two samples, so
 * that neither ether that came in nor ether that was taken out counts as a price.
 *
 * @returns undefined if no transaction was seen
 */
export function estimateReach(samples: readonly Sample[]): Reach | undefined {
  const costs: bigint[] = [];
  let transactions = 0;
  for (const [place, sample] of samples.entries()) {
    const before = samples[place - 1];
    if (before === undefined || sample.nonce <= before.nonce) continue;
    const made = sample.nonce - before.nonce;
    transactions += made;
    const spentWei = before.balanceWei - sample.balanceWei;
    if (spentWei > 0n) costs.push(spentWei / BigInt(made));
  }
  const middle = costs.toSorted((one, other) => (one < other ? -1 : 1))[Math.floor(costs.length / 2)];
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || middle === undefined || middle === 0n) return undefined;
  const left = Number(last.balanceWei / middle);
  const elapsedDays = (last.atMs - first.atMs) / DAY_MS;
  return { transactions: left, ...(elapsedDays > 0 ? { days: (left * elapsedDays) / transactions } : {}) };
}
