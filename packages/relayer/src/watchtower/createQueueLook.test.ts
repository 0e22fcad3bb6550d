import { randomUUID } from 'node:crypto';
import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { at, params, RELAYER, SIGNER, START } from '../../test/watchRig.ts';
import { createQueueLook } from './createQueueLook.ts';

/** The client of a gateway whose list of a chain never ends, and in which nothing is open. */
function createEndlessList(fields: Partial<RequestRecord>) {
  const date = at(START);
  const head = { chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, createdAt: date, updatedAt: date } as const;
  return {
    list: ({ limit = 100 }: { limit?: number }) => ({
      async page() {
        const items = Array.from({ length: limit }, () => ({ requestId: randomUUID(), ...head, ...fields }));
        return { items, count: limit, lastKey: 'more' };
      },
      async *pages() {},
    }),
  } as never;
}

const payload = `0x${'ab'.repeat(5000)}` as const;

// Shows WATCH-9.
test.each([
  ['pending, of which the params are not kept', { status: 'pending' }, {}],
  ['reported, of which they are', { status: 'failed', claimedBy: RELAYER }, { ...params, payload }],
] as const)('a look ends at 32 MB of new requests, however many there are: %s', async (_, fields, kept) => {
  const client = createEndlessList({ ...fields, params: { ...params, payload } } as Partial<RequestRecord>);
  const { look } = createQueueLook({
    ...{ client, chainName: 'c', isKnown: () => false, isIdle: () => false, listUnseen: () => [] },
    ...{ now: () => Number(START) * 1000, sinceMs: 0 },
  });
  const { records } = await look();
  expect(records[0]?.params).toEqual(kept);
  const bytes = records.length * (300 + (fields.status === 'pending' ? 0 : JSON.stringify(kept).length));
  expect(bytes / 2 ** 20).toBeGreaterThan(32);
  // A page more at most.
  expect(bytes / 2 ** 20).toBeLessThan(33.1);
});
