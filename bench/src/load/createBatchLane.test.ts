import { expect, test } from 'vitest';
import { createKeyPair } from '../signing/createKeyPair.ts';
import { loadSigningCrypto } from '../signing/loadSigningCrypto.ts';
import { createBatchLane } from './createBatchLane.ts';

const idOf = (n: number) => `0197c2a4-5b1e-7c3d-8f60-0242ac12000${n}`;
const record = (n: number) => Buffer.from(`{"requestId":"${idOf(n)}"}`);
const moved = (count: number) => Buffer.from(`{"items":[],"count":${count},"conflicts":[]}`);

test('creates a batch, claims and reports it by one call each, and ends with what is left', async () => {
  const crypto = await loadSigningCrypto();
  const creates = ['a', 'b', 'c'].map((text) => Buffer.from(text));
  let lives = 0;
  const lane = createBatchLane({
    crypto,
    relayer: createKeyPair(crypto),
    batchSize: 2,
    takeCreate: () => creates.shift(),
    onLife: () => lives++,
  });
  expect(lane.begin()?.toString()).toBe('a');
  expect(lane.next(201, record(1))?.toString()).toBe('b');
  const claim = lane.next(201, record(2))?.toString();
  expect(claim).toMatch(/^POST \/requests\/claims /);
  expect(claim).toContain(JSON.stringify({ requestIds: [idOf(1), idOf(2)] }));
  const report = lane.next(200, moved(2))?.toString();
  expect(report).toMatch(/^POST \/requests\/reports /);
  expect(report).toContain(`{"requestId":"${idOf(2)}","status":"success"`);
  expect(lives).toBe(0);
  expect(lane.next(200, moved(2))?.toString()).toBe('c');
  expect(lives).toBe(2);
  expect(lane.next(201, record(3))?.toString()).toContain(JSON.stringify({ requestIds: [idOf(3)] }));
  expect(() => lane.next(200, moved(0))).toThrow('Not all 1 moved');
  lane.next(200, moved(1));
  expect(lane.next(200, moved(1))).toBeUndefined();
  expect(lives).toBe(3);
});
