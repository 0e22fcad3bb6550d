import { expect, test } from 'vitest';
import { claimedRecord, claimOf, pendingRequest } from '../../test/contracts/storedRequests.ts';
import { createRecordRenderer } from './createRecordRenderer.ts';
import { renderRecord } from './render.ts';

test('a large record is rendered once for all who read it, and anew once anything of it has moved', () => {
  const render = createRecordRenderer();
  const record = pendingRequest({ paramsJson: JSON.stringify({ payload: 'é'.repeat(10_000) }) });
  expect(render({ ...record })).toBe(render({ ...record }));
  expect(new TextDecoder().decode(render(record) as Uint8Array)).toBe(renderRecord(record));
  const claimed = claimedRecord(record, claimOf(record, { now: record.updatedAt }));
  expect(new TextDecoder().decode(render(claimed) as Uint8Array)).toBe(renderRecord(claimed));
  expect(render(pendingRequest())).toBeTypeOf('string');
});

test('sixteen are kept', () => {
  const render = createRecordRenderer();
  const paramsJson = JSON.stringify({ payload: 'a'.repeat(10_000) });
  const records = Array.from({ length: 17 }, () => pendingRequest({ paramsJson }));
  const [first, ...others] = records.map(render);
  expect(render(records[16]!)).toBe(others[15]);
  expect(render(records[0]!)).not.toBe(first);
});
