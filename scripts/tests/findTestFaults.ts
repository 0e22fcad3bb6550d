/** What makes a test red without a fault, or green with one, and what to write instead. */
const FAULTS: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern: /\bvi\.waitFor\(|\bvi\.waitUntil\(/,
    instead: 'it gives up after a second: use expect.poll, whose patience stands in the shared settings',
  },
  {
    pattern: /\bexpect\(.*\.every\(.*\)\.toBe\(true\)/,
    instead: 'it holds for an empty list: compare the list with what it must be',
  },
  {
    pattern: /\b(?:performance|Date)\.now\(\) - \w+\)\.toBeLessThan(?:OrEqual)?\((?:\d{1,4}|\d_\d{3})\)/,
    instead: 'a loaded machine takes longer: wait for what happens, or compare with a bound of another kind',
  },
  {
    pattern: /^(?:test|it|describe)\b.*\{ timeout: [\d_]+ \}|^\}, [\d_]+\);$/,
    instead: 'the shared settings bound what hangs',
  },
];

/** One line that is at fault. */
export interface TestFault {
  readonly line: number;
  readonly instead: string;
}

/**
 * Looks for what has made tests depend on the machine, or assert nothing.
 *
 * @param text - source of a test file
 * @returns the faults, by line
 */
export function findTestFaults(text: string): TestFault[] {
  return text
    .split('\n')
    .flatMap((source, index) =>
      FAULTS.filter(({ pattern }) => pattern.test(source)).map(({ instead }) => ({ line: index + 1, instead })),
    );
}
