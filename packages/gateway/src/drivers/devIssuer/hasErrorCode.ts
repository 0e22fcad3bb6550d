/**
 * Whether a caught value is an error of Node's with one of these codes.
 *
 * @param error - anything caught
 * @param codes - like `ENOENT`
 */
export function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
