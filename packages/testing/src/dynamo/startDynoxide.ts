import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { guardChild } from '@prism-gateway/node/guard-child';
import { findFreePort } from '../findFreePort.ts';
import { DynamoEngineMissingError, type DynamoServer } from './dynamoServer.ts';

/** Starts with a port that another process took meanwhile, before giving up. */
const MAX_STARTS = 5;

/** Finds the program: one static binary in its package. @throws DynamoEngineMissingError on other platforms */
export function findDynoxide(): string {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (error) {
    const platform = `${process.platform}-${process.arch}`;
    throw new DynamoEngineMissingError(`dynoxide has no program for ${platform}; DYNAMODB_ENGINE=dynamodb-local has.`, {
      cause: error,
    });
  }
}

/** Waits until the engine says that it listens, or has ended: who answers on the port may be another one that took it meanwhile. */
async function isUp(child: ChildProcess): Promise<boolean> {
  // A pipe, as `stdio` says.
  for await (const line of createInterface({ input: child.stderr! })) {
    if (!line.includes(' listening on ')) continue;
    child.stderr!.resume();
    return true;
  }
  return false;
}

/**
 * Starts dynoxide, a small engine in Rust, on 127.0.0.1; it is up in some 30 ms.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError
 */
export async function startDynoxide(): Promise<DynamoServer> {
  const binary = findDynoxide();
  for (let start = 1; ; start++) {
    const port = await findFreePort();
    const endpoint = `http://127.0.0.1:${port}`;
    const child = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', `${port}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const closed = once(child, 'close').finally(guardChild(child));
    if (await isUp(child)) {
      const close = async () => {
        child.kill('SIGKILL');
        await closed;
      };
      return { endpoint, engine: 'dynoxide', close, [Symbol.asyncDispose]: close };
    }
    if (start === MAX_STARTS) throw new Error(`dynoxide ended with ${child.exitCode} instead of listening`);
  }
}
