import type { NamedCommand } from './listCommands.ts';
import type { SmokeRow } from './rows.ts';

/**
 * Compares the commands that there are with the rows that run them.
 *
 * @param named - what README and documents name
 * @param programs - names of the launcher's programs, whether a document names them or not
 * @param rows - how each is run
 * @returns a sentence for each command without a row, and for each row that nobody names
 */
export function findMissingRows(
  { named, programs }: { readonly named: readonly NamedCommand[]; readonly programs: readonly string[] },
  rows: readonly SmokeRow[],
): string[] {
  const known = new Set(rows.map(({ command }) => command));
  const wanted = new Set([...named.map(({ command }) => command), ...programs]);
  return [
    ...named
      .filter(({ command }) => !known.has(command))
      .map(
        ({ command, file }) => `${file} names "${command}", and scripts/smoke/rows.ts does not say how it is tried.`,
      ),
    ...programs
      .filter((name) => ![...known].some((command) => command.split(' ')[0] === name))
      .map((name) => `bin/programs.mjs has "${name}", and scripts/smoke/rows.ts does not say how it is tried.`),
    ...[...known]
      .filter((command) => !wanted.has(command))
      .map((command) => `scripts/smoke/rows.ts runs "${command}", which nobody names.`),
  ];
}
