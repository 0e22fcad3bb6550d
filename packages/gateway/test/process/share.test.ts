import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** High enough that the second process could let in reads for half a minute by its own counts alone. */
const LIMIT = 150;
const LOOK_MS = 200;

let dataDir: string;
let running: RunningGateway[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'prism-share-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((gateway) => gateway.kill()));
  await rm(dataDir, { recursive: true });
});

async function start(): Promise<RunningGateway> {
  const gateway = await startGateway({ dataDir, env: { RATE_LIMIT_READS: String(LIMIT) } });
  running.push(gateway);
  return gateway;
}

const SIGNER = '0x52908400098527886E0F7030069857D2E4169EE7';
const read = async ({ url }: RunningGateway) => (await fetch(`${url}/requests?signer=${SIGNER}`)).status;

/** Reads until the limit refuses. @returns how many reads were let in */
async function readUntilRefused(gateway: RunningGateway): Promise<number> {
  for (let taken = 0; taken <= 2 * LIMIT; taken++) if ((await read(gateway)) === 429) return taken;
  throw new Error('The limit never refused.');
}

// Shows LIMIT-12, STORE-4.
test('two processes on one DATA_DIR agree on a limit, and it survives a restart of both', async () => {
  const [first, second] = await Promise.all([start(), start()]);
  // The other process has counts of its own before it learns of these.
  expect(await read(second)).toBe(200);
  expect(await readUntilRefused(first)).toBeGreaterThanOrEqual(LIMIT - 1);
  // Hits of the one reach the other by the file, ten times a second.
  let takenElsewhere = 0;
  const readElsewhere = async () => {
    takenElsewhere++;
    return await read(second);
  };
  await expect.poll(readElsewhere, { interval: LOOK_MS }).toBe(429);
  expect(takenElsewhere).toBeLessThan(LIMIT / 2);

  expect(await Promise.all([first.stop(), second.stop()])).toEqual([0, 0]);
  const taken = await readUntilRefused(await start());
  // As much as the sliding window has let go meanwhile.
  expect(taken).toBeLessThan(LIMIT / 2);
});
