import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';

const SERVER = fileURLToPath(new URL('../../src/entry/server.ts', import.meta.url));

/** How a server that was to end by itself has ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm start`'s program with these settings alone until it ends. */
export async function runServer(env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Ended> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [SERVER, ...args], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  // `close` tells the exit code, or null after a signal.
  return { code: code as number | null, stdout, stderr };
}
