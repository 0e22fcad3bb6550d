import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { RunningGateway } from './world/startGateway.ts';

const SCRIPT = fileURLToPath(new URL('../../gateway/scripts/fillQueue.ts', import.meta.url));

/**
 * Puts requests into a gateway's store by the store's own code, in a process beside it: as if each had been posted, without
 * the calls.
 *
 * @param gateway - may run meanwhile; its `dataDir`, or the URL of its PostgreSQL
 * @param bodies - of `POST /requests`
 * @throws Error when one is no request, or not all were stored
 */
export async function fillQueue({ dataDir }: Pick<RunningGateway, 'dataDir'>, bodies: Iterable<object>): Promise<void> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [SCRIPT, dataDir], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const answer = text(child.stdout);
  // Where it ends early, its output says so.
  child.stdin.on('error', () => undefined);
  let count = 0;
  for (const body of bodies) {
    count++;
    if (child.stdin.write(`${JSON.stringify(body)}\n`) || child.exitCode !== null) continue;
    await Promise.race([once(child.stdin, 'drain'), closed]);
  }
  child.stdin.end();
  const [code] = await closed;
  const stored = Number(await answer);
  if (code !== 0 || stored !== count)
    throw new Error(`${stored} of ${count} requests were stored (exit code ${code}).`);
}
