import { readFile } from 'node:fs/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { fillQueue } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { expect, test } from 'vitest';
import { relayer as program } from '../../../../bin/programs.mjs';
import { makeJunk, makeWrite, type PostedBody } from './makeJunk.ts';

const JUNK = sized({ small: 3000, long: 1_000_000 });
/** Pages of junk that it has to have been given before the first honest request: its memory is full of it then. */
const PAGES_FIRST = sized({ small: 0, long: 200 });
/** Requests of a page of the feed. */
const PAGE = 100;
/** Posted before a restart and after it. */
const HONEST = sized({ small: 3, long: 20 });
const MAX_CLAIM_MS = 5000;
const MAX_RSS_MB = 200;
const PATIENCE_MS = 120_000;

/** The most memory that a process has had, in megabytes. @see proc_pid_status(5) */
async function readPeakMb({ process: { pid } }: Program): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Pages of the feed that the gateway has given. */
async function countPages({ gateway }: World): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const calls = /^prism_http_requests_total\{method="GET",route="\/requests\/feed",status="200"\} (\d+)$/m;
  return Number(calls.exec(text)?.[1] ?? 0);
}

async function post({ gateway }: World, body: PostedBody): Promise<RequestRecord> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.url}/requests`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(201);
  // It is a record.
  return (await answer.json()) as RequestRecord;
}

const read = async ({ gateway }: World, { requestId }: RequestRecord): Promise<RequestRecord> =>
  // It is a record.
  (await (await fetch(`${gateway.url}/requests/${requestId}`)).json()) as RequestRecord;

/** Waits until requests have ended well. @returns how long after its posting the last of them was claimed, by the gateway's clock */
async function waitForAll(world: World, posted: readonly RequestRecord[]): Promise<number> {
  let records: readonly RequestRecord[] = [];
  async function readStates() {
    records = await Promise.all(posted.map((one) => read(world, one)));
    return records.map(({ status }) => status);
  }
  await expect.poll(readStates, { timeout: PATIENCE_MS, interval: 200 }).toEqual(posted.map(() => 'success'));
  return Math.max(...records.map(({ createdAt, claimedAt }) => Date.parse(claimedAt ?? '') - Date.parse(createdAt)));
}

function* makeAll(make: (position: number) => PostedBody): Generator<PostedBody> {
  for (let position = 0; position < JUNK; position++) yield make(position);
}

test('whatever junk stands before them, honest requests are claimed as soon as they are posted, also after a restart', async () => {
  await using world = await startWorld({ users: 2 * HONEST + 2, relayers: 1 });
  const [victim, copied, ...honest] = world.users;
  // The world has as many.
  await fillQueue(world.gateway, makeAll(await makeJunk(world, { victim: victim!, copied: copied! })));
  // At its first start it knows nothing of what was before; at the next one it knows where it was.
  const awaited = ['"following the feed"', '"started"'];
  for (const [index, sign] of awaited.entries()) {
    // As `npm run relayer` starts it: what its memory is, its flags decide too.
    const relayer = await startProgram('relayer', {
      env: { ...program.env, ...world.relayerEnv(0) },
      nodeFlags: program.nodeFlags,
    });
    const hasPrinted = () => relayer.output.some((line) => line.includes(sign));
    try {
      await expect.poll(hasPrinted, { timeout: PATIENCE_MS }).toBe(true);
      const pages = () => countPages(world);
      await expect.poll(pages, { timeout: 500_000, interval: 500 }).toBeGreaterThanOrEqual(PAGES_FIRST);
      const pagesBefore = await pages();
      const users = honest.slice(index * HONEST, (index + 1) * HONEST);
      const bodies = await Promise.all(users.map((user, i) => makeWrite(world, { user, payload: `0xaa${i + 10}` })));
      const claimedMs = await waitForAll(world, await Promise.all(bodies.map((body) => post(world, body))));
      const [pagesAfter, peakMb] = [await pages(), await readPeakMb(relayer)];
      console.log(
        `junk ${JUNK}, pages ${pagesBefore} to ${pagesAfter}, claimed after ${claimedMs} ms, ${Math.round(peakMb)} MB`,
      );
      if (isLong) {
        expect(claimedMs).toBeLessThan(MAX_CLAIM_MS);
        // They have waited for no walk through what stands before them.
        expect(pagesAfter * PAGE).toBeLessThan(JUNK);
      }
      expect(peakMb).toBeLessThan(MAX_RSS_MB);
      // What was done once is not done again.
      expect(await read(world, await post(world, bodies[0]!))).toMatchObject({ status: 'pending' });
    } finally {
      await relayer.kill();
    }
  }
}, 2_400_000);
