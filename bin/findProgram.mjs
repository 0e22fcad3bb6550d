// @ts-check
/** @import { Program } from './programs.mjs' */

/**
 * Finds the program that words of a command line name; two words stand for a name with a colon, as `demo payments` for `demo:payments`.
 *
 * @param {Readonly<Record<string, Program>>} programs by name
 * @param {readonly string[]} words of the command line; at least one
 * @returns {{ readonly name: string, readonly program: Program, readonly rest: readonly string[] } | undefined} the program and the
 *   words that are for it; undefined if there is none
 */
export function findProgram(programs, words) {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(':');
    const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
    if (words.length >= length && program !== undefined) return { name, program, rest: words.slice(length) };
  }
  return undefined;
}
