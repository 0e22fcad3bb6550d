// @ts-check
import { readFileSync } from 'node:fs';
import { findNearest } from './findNearest.mjs';
import { findProgram } from './findProgram.mjs';
import { writeHelp } from './writeHelp.mjs';

/** @import { Program } from './programs.mjs' */

/** Exit status for a command line that is wrong, as getopt and most shells have it. */
const USAGE_FAULT = 2;

/**
 * Reads a command line of the launcher. If there is nothing to run, the help, the version or what is wrong is printed.
 *
 * @param {object} context
 * @param {Readonly<Record<string, Program>>} context.programs by name
 * @param {string} [context.note] last line of the help
 * @param {readonly string[]} words of the command line
 * @returns {number | { readonly program: Program, readonly rest: readonly string[] }} the program and the words that are for it, or an
 *   exit status
 */
export function chooseProgram({ programs, note }, words) {
  const [name] = words;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(writeHelp(programs, note));
    return name === undefined ? USAGE_FAULT : 0;
  }
  if (name === '--version' || name === '-v') {
    console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);
    return 0;
  }
  const found = findProgram(programs, words);
  const { takes, summary } = found?.program ?? {};
  if (takes !== undefined && found?.rest.some((word) => word === '--help' || word === '-h')) {
    console.log(`prism ${`${found.name} ${takes}`.trimEnd()}\n\n${summary}`);
    return 0;
  }
  // It completes the names of all.
  if (found?.name === 'completion') return { ...found, rest: [...found.rest, ...Object.keys(programs)] };
  if (found !== undefined) return found;
  const nearest = findNearest(name, Object.keys(programs));
  console.error(`There is no program "${name}"; did you mean "${nearest}"? \`prism --help\` lists them all.`);
  return USAGE_FAULT;
}
