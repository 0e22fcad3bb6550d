/** The words of a command line, sorted. */
export interface Words {
  /** Without a dash, in order. */
  readonly plain: readonly string[];
  /** Of options that take no value, without their dashes. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
}

/** A command line that cannot be followed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

const FLAGS = ['json', 'csv', 'accept-listed', 'refunded', 'paid'];
const VALUES = ['since', 'why', 'who', 'state', 'processor', 'owner', 'journals'];

/**
 * Sorts words.
 *
 * @throws UsageError for an option that is none, or lacks its value
 */
export function parseWords(words: readonly string[]): Words {
  const plain: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, name, , inline] = /^--([a-z-]+)(=(.*))?$/.exec(word) ?? [];
    if (name === undefined) plain.push(word);
    else if (FLAGS.includes(name)) flags.add(name);
    else if (VALUES.includes(name)) {
      const value = inline ?? words[++at];
      if (value === undefined || value === '') throw new UsageError(`--${name} wants a value.`);
      values.set(name, value);
    } else throw new UsageError(`There is no option --${name}; see --help.`);
  }
  return { plain, flags, values };
}
