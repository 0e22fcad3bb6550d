#!/usr/bin/env node
// @ts-check
/**
 * The launcher of the packed tarball, where it is `bin/prism.mjs`: there is nothing to install then, and the table of programs holds those
 * that operators run. `scripts/packages/stageCli.ts` puts it together.
 */
import { fileURLToPath } from 'node:url';
import { chooseProgram } from './chooseProgram.mjs';
import { findNode } from './findNode.mjs';
import { programs } from './programs.mjs';
import { becomeNode, runBelowNpm } from './runNode.mjs';
import { toRun } from './toRun.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param {readonly string[]} words of the command line
 * @returns {Promise<number>} exit status
 */
async function main(words) {
  const chosen = chooseProgram({ programs }, words);
  if (typeof chosen === 'number') return chosen;
  const { execPath, platform, arch, versions } = process;
  const found = findNode({ from: import.meta.url, system: `${platform}-${arch}`, version: versions.node, execPath });
  if ('fault' in found) {
    console.error(found.fault);
    return 1;
  }
  const { group, steps } = chosen.program;
  // Each of these programs is one step.
  const [step] = /** @type {[import('./programs.mjs').Step]} */ (steps);
  const run = toRun({ root, group, args: chosen.rest, node: found.node }, step);
  return await (process.env.npm_lifecycle_event === undefined ? becomeNode : runBelowNpm)(run);
}

process.exitCode = await main(process.argv.slice(2));
