import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { type Candidate, createCandidates } from '../lifecycle/createCandidates.ts';
import { createListedQueue } from './createListedQueue.ts';

/** More than one look reads. */
const PAGES = 8;

/** The queue of a gateway with full pages, whose cursors are good for one secret only. */
function createQueue() {
  const state = { secret: 1, read: [] as number[], isLeft: true, nowMs: 0 };
  const page = async (lastKey?: string | null) => {
    const [secret = state.secret, index = 0] = lastKey?.split(':').map(Number) ?? [];
    if (secret !== state.secret) throw new Error('lastKey is not valid');
    state.read.push(index);
    // What a queue reads of a record.
    const createdAt = `2026-01-0${index + 1}`;
    const items = [{ requestId: `request ${index}`, signer: '0xaa', createdAt } as RequestRecord];
    return { items, lastKey: index + 1 < PAGES ? `${secret}:${index + 1}` : null };
  };
  const candidates = { ...createCandidates(), isLeft: () => state.isLeft };
  const queue = createListedQueue({
    ...{ client: { list: () => ({ page }) }, candidates, inFlight: { has: () => false }, chainName: 'c' },
    ...{ now: () => state.nowMs, signal: new AbortController().signal },
  });
  return { state, queue };
}

/** A candidate of which a review reads these two fields. */
const candidate = (requestId: string, day: number) =>
  ({ record: { requestId, createdAt: `2026-01-0${day}` } as RequestRecord }) as Candidate;

it('goes on behind a head of no use from where the look before has ended, and begins anew at the end', async () => {
  const { state, queue } = createQueue();
  for (let round = 0; round < 3; round += 1) await queue.look(1);
  expect(state.read).toEqual([0, 1, 2, 3, 4, 0, 5, 6, 7, 0, 1, 2, 3, 4]);
  Object.assign(state, { read: [], isLeft: false });
  await queue.look(1);
  expect(state.read).toEqual([0]);
});

it('begins anew when its cursor has become invalid', async () => {
  const { state, queue } = createQueue();
  await queue.look(1);
  state.secret = 2;
  await expect(queue.look(1)).rejects.toThrow('lastKey is not valid');
  state.read = [];
  expect(await queue.look(1)).toHaveLength(5);
  expect(state.read).toEqual([0, 1, 2, 3, 4]);
});

it('reads an old page again to see what is still pending, and goes on with the walk behind the head', async () => {
  const { state, queue } = createQueue();
  await queue.look(1);
  state.read = [];
  const [shown, claimed, behind] = [candidate('request 1', 2), candidate('claimed', 1), candidate('behind', 3)];
  expect(await queue.dropClaimed([shown, claimed])).toEqual([shown, claimed]);
  expect(state.read).toEqual([]);
  state.nowMs = 16;
  expect(await queue.dropClaimed([shown, claimed])).toEqual([shown]);
  expect(await queue.dropClaimed([shown, behind])).toEqual([shown, behind]);
  state.read = [];
  await queue.look(1);
  expect(state.read).toEqual([0, 5, 6, 7]);
});
