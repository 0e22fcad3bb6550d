import { type Engine, unminedIntents } from './engine.ts';

/** A block is looked for from a little before it is expected on, and then again and again, if it takes long, less often. */
const EARLIER_MS = 100;
const LONGEST_PAUSE_MS = 1000;
const LOOKS_A_BLOCK = 8;

/**
 * In how many milliseconds something new may be on the chain: nothing changes before the next block. That is known if the caller follows
 * the chain, and blocks do not come at once here.
 */
export function pauseForBlock(engine: Engine): number {
  const { view, settings, earlyLooks } = engine;
  const { pollIntervalMs } = settings;
  const blockMs = view?.blockMs();
  if (view === undefined || blockMs === undefined || earlyLooks === 0 || engine.isSuspicious) return pollIntervalMs;
  const pauseMs = Math.max(pollIntervalMs, Math.min(LONGEST_PAUSE_MS, blockMs / LOOKS_A_BLOCK));
  const nowMs = engine.monotonicNow();
  const unmined = unminedIntents(engine).flatMap(({ offered }) => (offered === undefined ? [] : [offered.sinceMs]));
  // Of what waits for depth alone, the last block was seen as soon as it came.
  if (unmined.length === 0) return Math.max(pauseMs, engine.headSeenAtMs + blockMs - EARLIER_MS - nowMs);
  const nextInMs = view.nextBlockInMs() ?? 0;
  // The first block after they were offered; once that is late, it may come at any time.
  const isFirst = Math.min(...unmined) + blockMs >= nowMs + nextInMs;
  return isFirst ? Math.max(pauseMs, nextInMs - EARLIER_MS) : pauseMs;
}
