import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../lambda-ric/', import.meta.url));
const CLIENT = join(FOLDER, 'node_modules', 'aws-lambda-ric');
/** Compiled when the package is installed; there is none in it. */
const NATIVE_PART = join(CLIENT, 'rapid-client.node');

/** AWS's runtime interface client cannot run on this machine; `message` says what is missing. */
export class RuntimeClientMissingError extends Error {
  override readonly name = 'RuntimeClientMissingError';
  readonly code = 'RUNTIME_CLIENT_MISSING';
}

const has = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'it runs on Linux only';
  const missing = ['cmake', 'make', 'c++', 'python3'].filter((command) => !has(command));
  return missing.length === 0 ? undefined : `it is compiled when it is installed, and needs ${missing.join(', ')}`;
}

/**
 * Installs AWS's runtime interface client if it is not installed yet; that takes a minute or two.
 *
 * @returns its main module
 * @throws RuntimeClientMissingError if it cannot be installed
 * @see https://github.com/aws/aws-lambda-nodejs-runtime-interface-client
 */
export function installRuntimeClient(): string {
  if (!existsSync(NATIVE_PART)) {
    const obstacle = findObstacle();
    if (obstacle !== undefined) throw new RuntimeClientMissingError(`AWS's runtime interface client: ${obstacle}.`);
    console.error("Installing AWS's runtime interface client, once; compiling it takes a minute or two …");
    // npm names itself here when it runs a script; started by hand, the one on the PATH will do.
    const npm = process.env.npm_execpath;
    const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm'];
    const { status } = spawnSync(command, [...prefix, 'install', '--no-save', '--loglevel=error'], {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0 || !existsSync(NATIVE_PART)) {
      throw new RuntimeClientMissingError(
        `\`npm install\` in ${FOLDER} did not compile AWS's runtime interface client.`,
      );
    }
  }
  return join(CLIENT, 'index.mjs');
}
