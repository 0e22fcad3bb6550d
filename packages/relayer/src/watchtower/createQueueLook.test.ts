import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { at, params, RELAYER, SIGNER, START } from '../../test/watchRig.ts';
import { createQueueLook } from './createQueueLook.ts';

const payload = `0x${'ab'.repeat(5000)}` as const;
/** Of it a page has 1 MB. */
const REPORTED = { status: 'failed', claimedBy: RELAYER } as const;

/** Looks at a gateway whose list of a chain never ends, and in which nothing is open. @param dateOf - when those of a page were posted, in Unix seconds */
function startLook(fields: object, dateOf: (page: number) => bigint) {
  const clock = { seconds: START, page: 0 };
  const list = ({ limit = 100 }: { limit?: number }) => ({
    async page() {
      const date = at(dateOf(clock.page++));
      const head = { chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, createdAt: date, updatedAt: date };
      const one = { ...head, ...fields, params: { ...params, payload } };
      return { items: Array.from({ length: limit }, () => ({ requestId: randomUUID(), ...one })), lastKey: 'more' };
    },
    async *pages() {},
  });
  const { look } = createQueueLook({
    // Nothing else of it is asked.
    ...{ client: { list } as never, chainName: 'c', isKnown: () => false, isIdle: () => false, listUnseen: () => [] },
    ...{ now: () => Number(clock.seconds) * 1000, sinceMs: 0 },
  });
  return { look, clock };
}

// Shows WATCH-9.
test.each([
  ['pending, of which the params are not kept', { status: 'pending' }, {}],
  ['reported, of which they are', REPORTED, { ...params, payload }],
] as const)('the first look ends at 32 MB of new requests, however many there are: %s', async (_, fields, kept) => {
  const { records } = await startLook(fields, () => START).look();
  expect(records[0]?.params).toEqual(kept);
  const bytes = records.length * (300 + (fields.status === 'pending' ? 0 : JSON.stringify(kept).length));
  expect(bytes / 2 ** 20).toBeGreaterThan(32);
  // A page more at most.
  expect(bytes / 2 ** 20).toBeLessThan(33.1);
});

// Shows WATCH-9.
test.each([
  ['all that was posted since the look before, so that no lie hides behind it', 20n, 60],
  ['32 MB after a time in which nobody looked', 100n, 33],
])('a later look keeps %s', async (_, seconds, pages) => {
  const { look, clock } = startLook(REPORTED, (page) => START - (page < 60 ? 0n : 3600n));
  await look();
  clock.page = 0;
  clock.seconds += seconds;
  await look();
  expect(clock.page - pages).toBeLessThan(3);
  expect(clock.page).toBeGreaterThan(pages - 3);
});
