/** Most that are let go in one turn of the event loop: eight answers of the largest size are 2 MB. */
const SLICE = 8;
/** How long a slice is held back while there is no room, in milliseconds: whoever reads slowly must not stop all others. */
const FULL_PAUSE_MS = 20;

/** Lets some act now, and the others one slice a turn of the event loop. */
export type TakeTurn = () => Promise<void> | undefined;

/**
 * Makes the turns: what wakes up together would otherwise be read and rendered together, before the first answer is written.
 *
 * @param hasRoom - whether answers that have been written leave room for more
 */
export function createTurns(hasRoom: () => boolean): TakeTurn {
  const queue: (() => void)[] = [];
  let left = SLICE;
  let isScheduled = false;

  function schedule(): void {
    isScheduled = true;
    if (queue.length === 0 || hasRoom()) setImmediate(begin);
    else setTimeout(begin, FULL_PAUSE_MS);
  }

  function begin(): void {
    isScheduled = false;
    left = SLICE;
    const slice = queue.splice(0, SLICE);
    left -= slice.length;
    if (slice.length > 0) schedule();
    for (const go of slice) go();
  }

  return function takeTurn() {
    if (!isScheduled) schedule();
    if (left > 0 && queue.length === 0) {
      left -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      queue.push(resolve);
    });
  };
}
