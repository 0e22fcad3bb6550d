// @ts-check
import { join } from 'node:path';
import { compileCache } from './programs.mjs';

/**
 * @import { Program, Step } from './programs.mjs'
 * @import { NodeRun } from './runNode.mjs'
 */

/**
 * Turns a step into what is run: Node, its flags, the file and its arguments.
 *
 * @param {object} context
 * @param {string} context.root path of the repository
 * @param {Program['group']} context.group
 * @param {readonly string[]} context.args the user's own
 * @param {string} [context.node] path of Node; default the one that the lockfile names
 * @param {Step} step
 * @returns {NodeRun}
 */
export function toRun(
  { root, group, args, node = ownNode(root) },
  { file, nodeFlags = [], env = {}, args: given = [] },
) {
  // Benches measure starts too, and tools have caches of their own.
  const isCached = group === 'run' || group === 'try';
  return {
    node,
    args: [...nodeFlags, join(root, file), ...given, ...args],
    env: { ...(isCached && { NODE_COMPILE_CACHE: join(root, compileCache) }), ...process.env, ...env },
  };
}

/** @param {string} root */
const ownNode = (root) => join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
