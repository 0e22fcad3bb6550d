/** Whether tests run in their full size (`TEST_LONG=1`) or in the small one of every day. */
export const isLong = process.env.TEST_LONG === '1';

/**
 * Chooses a number by the size that tests run in.
 *
 * @param sizes - the number in the small size and in the full one
 * @returns one of the two
 */
export function sized(sizes: { readonly small: number; readonly long: number }): number {
  return isLong ? sizes.long : sizes.small;
}
