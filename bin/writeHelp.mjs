// @ts-check
/** @import { Program } from './programs.mjs' */

/**
 * Groups of programs, each with its heading.
 *
 * @type {readonly (readonly [Program['group'], string])[]}
 */
export const headings = [
  ['run', 'Run'],
  ['try', 'Try it on this machine'],
  ['develop', 'Test and measure'],
  ['deploy', 'Bring it to AWS'],
];

/**
 * Writes what `prism --help` shows.
 *
 * @param {Readonly<Record<string, Program>>} programs by name
 * @param {string} [note] a last sentence
 * @returns {string} every program by heading, with a line on each
 */
export function writeHelp(programs, note) {
  const width = Math.max(...Object.keys(programs).map((name) => name.length)) + 2;
  const sections = headings.flatMap(([group, heading]) => {
    const members = Object.entries(programs).filter(([, program]) => program.group === group);
    const lines = members.map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
    return members.length === 0 ? [] : [[heading, ...lines].join('\n')];
  });
  return [
    'Starts the programs of Prism Gateway: prism PROGRAM [OPTIONS]',
    ...sections,
    ['prism PROGRAM --help says what a program takes, prism --version which this is.', note].filter(Boolean).join(' '),
  ].join('\n\n');
}
