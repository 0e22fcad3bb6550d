// @ts-check
/** @import { Program } from './programs.mjs' */

/** @type {readonly (readonly [Program['group'], string])[]} */
const headings = [
  ['run', 'Run'],
  ['try', 'Try it on this machine'],
  ['develop', 'Test and measure'],
  ['deploy', 'Bring it to AWS'],
];

/**
 * Writes what `prism --help` shows.
 *
 * @param {Readonly<Record<string, Program>>} programs by name
 * @returns {string} every program by heading, with a line on each
 */
export function writeHelp(programs) {
  const width = Math.max(...Object.keys(programs).map((name) => name.length)) + 2;
  const sections = headings.map(([group, heading]) => {
    const members = Object.entries(programs).filter(([, program]) => program.group === group);
    return [heading, ...members.map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`)].join('\n');
  });
  return [
    'Starts the programs of Prism Gateway: prism PROGRAM [OPTIONS]',
    ...sections,
    'prism PROGRAM --help tells what a program takes. `npm start` is `prism start`, `npm run relayer -- --help` is `prism relayer --help`.',
  ].join('\n\n');
}
