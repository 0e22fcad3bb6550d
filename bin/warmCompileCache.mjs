// @ts-check
import { spawnSync } from 'node:child_process';
import { toRun } from './toRun.mjs';

/** @import { Program } from './programs.mjs' */

/**
 * Has a program's sources compiled into Node's cache, so that its first start is as quick and as small as the next.
 *
 * @param {object} context
 * @param {string} context.root path of the repository
 * @param {Program} program
 */
export function warmCompileCache({ root }, { group, steps, loadsLater = [] }) {
  const entries = [...steps, ...loadsLater.map((file) => ({ ...steps.at(-1), file }))];
  for (const step of entries) {
    const { node, args, env } = toRun({ root, group, args: ['--help'] }, step);
    spawnSync(node, args, { env, stdio: 'ignore' });
  }
}
