import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams } from '@prism-gateway/protocol/typed-data';
import { expect, test } from 'vitest';
import { listSignedParts } from '../checks/findNonce.ts';
import { openWatchJournal } from './journal/openWatchJournal.ts';
import { listOpenBefore } from './listOpenBefore.ts';
import { takeRecords } from './takeRecords.ts';

const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const at = (seconds: number) => new Date(seconds * 1000).toISOString();

/** A write whose signature has its number. */
function recordOf(given: Partial<RequestRecord> & { readonly requestId: string }, number: number): RequestRecord {
  const params = createSignedParams({
    action: 'WRITE_DATA_FOR',
    params: { cloudId: word('01'), dataId: word('02'), payload: '0x', relayerFee: '1', timestamp: '1' },
    signer: SIGNER,
    signature: `${word(`0${number}`)}${word('22').slice(2)}1b`,
  });
  const shared = { chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, params, createdAt: at(number) };
  return { ...shared, claimedBy: SIGNER, claimedAt: at(50), updatedAt: at(number), ...given } as RequestRecord;
}

const failed = recordOf({ requestId: 'failed', status: 'failed', updatedAt: at(1000) }, 6);

const makeJournal = () => openWatchJournal({ path: ':memory:', now: () => 0 });
type Journal = ReturnType<typeof makeJournal>;

/** Has them seen at one look. */
function see(journal: Journal, records: readonly RequestRecord[], number = 9n, seconds = 2000n) {
  const head = { number, seconds, baseFee: 1n };
  const shared = { journal, head, heads: [], maxAge: 1n, leaseSeconds: 900n, sent: new Map(), doubts: [] };
  takeRecords(shared, { records, gone: [], atMs: 90_000 });
}

async function list(records: readonly RequestRecord[], journal = makeJournal()) {
  see(journal, records);
  const client = {
    get: async (requestId: string) => records.find((record) => record.requestId === requestId) as RequestRecord,
    list: () => ({ page: async () => ({ items: records, count: records.length, lastKey: null }) }) as never,
  };
  const open = await listOpenBefore({ client, chainName: 'c', journal }, { requestId: 'failed', signer: SIGNER });
  return open.flatMap(listSignedParts).map(({ r }) => Number(r.slice(-1)));
}

// Shows WATCH-7.
test('what was posted before, and was open until after the report, counts', async () => {
  const records = [
    failed,
    recordOf({ requestId: 'waits', status: 'pending' }, 1),
    recordOf({ requestId: 'held', status: 'processing' }, 2),
    recordOf({ requestId: 'ended later', status: 'failed', updatedAt: at(1001) }, 3),
    recordOf({ requestId: 'said to be done a moment ago', status: 'success', updatedAt: at(101) }, 4),
    recordOf({ requestId: 'done', status: 'success', updatedAt: at(100) }, 5),
    recordOf({ requestId: 'failed before', status: 'failed', updatedAt: at(999) }, 5),
    recordOf({ requestId: 'posted later', status: 'pending' }, 7),
  ];
  expect(await list(records)).toEqual([1, 2, 3, 4]);
  expect(await list([{ ...failed, status: 'pending' }, ...records.slice(1)])).toEqual([]);
});

// Shows WATCH-7.
test('what was reopened may not have been open then', async () => {
  const journal = makeJournal();
  const take = (record: RequestRecord) => see(journal, [record]);
  const earlier = recordOf({ requestId: 'reopened', status: 'failed', updatedAt: at(900) }, 1);
  take(earlier);
  const open = { ...earlier, status: 'pending', updatedAt: at(1100) } as const;
  take(open);
  expect(await list([failed, open], journal)).toEqual([]);
  const ended = { ...earlier, status: 'success', updatedAt: at(1200) } as const;
  take({ ...ended, status: 'processing' });
  take(ended);
  expect(await list([failed, ended], journal)).toEqual([]);
});

// Shows WATCH-7.
test('what was posted later is no earlier one, though the gateway, whose clock was set back meanwhile, dates it so', async () => {
  const journal = makeJournal();
  see(journal, [{ ...failed, status: 'pending' }], 9n);
  const later = recordOf({ requestId: 'posted later', status: 'pending' }, 1);
  see(journal, [later], 10n);
  expect(await list([failed, later], journal)).toEqual([]);
  expect(await list([failed, later])).toEqual([1]);
});

// Shows WATCH-7.
test('what has ended by a clock that was ahead was not open as long as that says', async () => {
  const journal = makeJournal();
  const ended = recordOf({ requestId: 'ended', status: 'failed', updatedAt: at(4500) }, 1);
  see(journal, [ended], 9n, 700n);
  expect(await list([failed, ended], journal)).toEqual([]);
  expect(await list([failed, { ...ended, requestId: 'ended later' }], journal)).toEqual([1]);
});
