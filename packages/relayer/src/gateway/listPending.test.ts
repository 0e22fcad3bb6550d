import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { createPendingQueue } from './listPending.ts';

/** More than one look reads. */
const PAGES = 8;

/** The queue of a gateway with full pages, whose cursors are good for one secret only. */
function createQueue() {
  const state = { secret: 1, read: [] as number[] };
  const page = async (lastKey?: string | null) => {
    const [secret = state.secret, index = 0] = lastKey?.split(':').map(Number) ?? [];
    if (secret !== state.secret) throw new Error('lastKey is not valid');
    state.read.push(index);
    // What a queue reads of a record.
    const items = [{ requestId: `request ${index}`, createdAt: `2026-01-0${index + 1}` } as RequestRecord];
    return { items, lastKey: index + 1 < PAGES ? `${secret}:${index + 1}` : null };
  };
  const gateway = { list: () => ({ page }) };
  return { state, queue: createPendingQueue(gateway, { chainName: 'c', signal: new AbortController().signal }) };
}

const look = async (queue: ReturnType<typeof createPendingQueue>, isUseful: (record: RequestRecord) => boolean) =>
  (await queue.look(1, isUseful)).map(({ requestId }) => requestId);

it('goes on behind a head of no use from where the look before has ended, and begins anew at the end', async () => {
  const { state, queue } = createQueue();
  for (let round = 0; round < 3; round += 1) await look(queue, () => false);
  expect(state.read).toEqual([0, 1, 2, 3, 4, 0, 5, 6, 7, 0, 1, 2, 3, 4]);
  state.read = [];
  await look(queue, () => true);
  expect(state.read).toEqual([0]);
});

it('begins anew when its cursor has become invalid', async () => {
  const { state, queue } = createQueue();
  await look(queue, () => false);
  state.secret = 2;
  await expect(look(queue, () => false)).rejects.toThrow('lastKey is not valid');
  state.read = [];
  expect(await look(queue, () => false)).toHaveLength(5);
  expect(state.read).toEqual([0, 1, 2, 3, 4]);
});

it('knows again what is pending, as far as it has read, and goes on with the walk behind the head', async () => {
  const { state, queue } = createQueue();
  await look(queue, () => false);
  const isPending = await queue.review(2);
  const record = (requestId: string, day: number) => ({ requestId, createdAt: `2026-01-0${day}` }) as RequestRecord;
  expect(isPending(record('request 1', 2))).toBe(true);
  expect(isPending(record('claimed', 1))).toBe(false);
  expect(isPending(record('behind', 3))).toBe(true);
  expect((await queue.review(PAGES))(record('claimed', 9))).toBe(true);
  state.read = [];
  await look(queue, () => false);
  expect(state.read).toEqual([0, 5, 6, 7]);
});
