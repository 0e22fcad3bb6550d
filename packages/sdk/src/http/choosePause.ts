/**
 * Chooses the pause before the next look at a gateway that lets no look wait: as short as it allows while there is work, and longer the
 * longer there is none.
 *
 * @param askedMs - what the gateway asks for, in milliseconds
 * @param looks.quiet - looks that found nothing, one after another
 * @param looks.longestMs - longest pause, unless the gateway asks for more
 * @returns milliseconds
 */
export function choosePause(
  askedMs: number,
  { quiet, longestMs }: { readonly quiet: number; readonly longestMs: number },
) {
  return Math.max(askedMs, Math.min(longestMs, askedMs * 1.25 ** quiet));
}
