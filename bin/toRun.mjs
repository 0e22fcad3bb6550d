// @ts-check
import { join } from 'node:path';
import { compileCache } from './programs.mjs';

/**
 * @import { Program, Step } from './programs.mjs'
 * @import { NodeRun } from './runNode.mjs'
 */

/**
 * Turns a step into what is run: the Node that the lockfile names, its flags, the file and its arguments.
 *
 * @param {object} context
 * @param {string} context.root path of the repository
 * @param {Program['group']} context.group
 * @param {readonly string[]} context.args the user's own
 * @param {Step} step
 * @returns {NodeRun}
 */
export function toRun({ root, group, args }, { file, nodeFlags = [], env = {}, args: given = [] }) {
  const executable = process.platform === 'win32' ? 'node.exe' : 'node';
  // Benches measure starts too, and tools have caches of their own.
  const isCached = group === 'run' || group === 'try';
  return {
    node: join(root, 'node_modules', 'node', 'bin', executable),
    args: [...nodeFlags, join(root, file), ...given, ...args],
    env: { ...(isCached && { NODE_COMPILE_CACHE: join(root, compileCache) }), ...process.env, ...env },
  };
}
