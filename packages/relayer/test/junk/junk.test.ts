import { readFile } from 'node:fs/promises';
import { type RelayerProcess, startRelayerProcess, startRelayWorld } from '@prism-gateway/testing/relay';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { expect, test } from 'vitest';
import { makeJunk, makeWrite } from './makeJunk.ts';
import { type QueueServer, startQueueServer } from './startQueueServer.ts';

const JUNK = sized({ small: 20_000, long: 1_000_000 });
/** Junk that it has to have looked at before the first honest request: its memory is full of it then. */
const SHOWN_FIRST = sized({ small: 0, long: 20_000 });
/** Posted before a restart and after it. */
const HONEST = sized({ small: 5, long: 20 });
const MAX_CLAIM_MS = 5000;
const MAX_RSS_MB = 200;
const PATIENCE_MS = 60_000;

/** The most memory that a process has had, in megabytes. @see proc_pid_status(5) */
async function readPeakMb({ process: { pid } }: RelayerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Waits until requests have ended well. @returns how long after its posting the last of them was claimed */
async function waitForAll(queue: QueueServer, requestIds: readonly string[]): Promise<number> {
  const states = () => requestIds.map((id) => queue.read(id)?.status);
  await expect.poll(states, { timeout: PATIENCE_MS }).toEqual(requestIds.map(() => 'success'));
  return Math.max(...requestIds.map((id) => queue.claimedAfterMs(id) ?? Number.POSITIVE_INFINITY));
}

test('whatever junk stands before them, honest requests are claimed as soon as they are posted, also after a restart', async () => {
  await using world = await startRelayWorld({ users: 2 * HONEST + 2, relayers: 1 });
  const [victim, copied, ...honest] = world.users;
  // The world has as many.
  const make = await makeJunk(world, { victim: victim!, copied: copied! });
  await using queue = await startQueueServer({ count: JUNK, make });
  const env = { ...world.relayerEnv(0), GATEWAY_URL: queue.url };
  const bodies = await Promise.all(
    honest.map((user, index) => makeWrite(world, { user, payload: `0xaa${index + 10}` })),
  );
  const lives = [bodies.slice(0, HONEST), bodies.slice(HONEST)];
  // At its first start it knows nothing of what was before; at the next one it knows where it was.
  const awaited = ['"following the feed"', '"started"'];
  for (const [index, life] of lives.entries()) {
    const relayer = await startRelayerProcess(env);
    const hasPrinted = () => relayer.output.some((line) => line.includes(awaited[index]!));
    try {
      await expect.poll(hasPrinted, { timeout: PATIENCE_MS }).toBe(true);
      await expect.poll(() => queue.shown(), { timeout: 500_000, interval: 500 }).toBeGreaterThanOrEqual(SHOWN_FIRST);
      const shownBefore = queue.shown();
      const claimedMs = await waitForAll(
        queue,
        life.map((body) => queue.post(body)),
      );
      // They have waited for no walk through what stands before them.
      expect(queue.shown()).toBeLessThan(JUNK);
      const peakMb = await readPeakMb(relayer);
      console.log(
        `junk ${JUNK}, shown ${shownBefore} to ${queue.shown()}, claimed after ${claimedMs} ms, ${peakMb} MB`,
      );
      if (isLong) expect(claimedMs).toBeLessThan(MAX_CLAIM_MS);
      expect(peakMb).toBeLessThan(MAX_RSS_MB);
      expect(queue.read(queue.post(life[0]!))).toMatchObject({ status: 'pending' });
    } finally {
      await relayer.kill();
    }
  }
}, 1_200_000);
