import { expect, test } from 'vitest';
import { createKeyPair } from '../signing/createKeyPair.ts';
import { loadSigningCrypto } from '../signing/loadSigningCrypto.ts';
import { createLifeLane } from './createLifeLane.ts';

const requestId = '0197c2a4-5b1e-7c3d-8f60-0242ac120002';

test('creates, claims and reports, then takes the next', async () => {
  const crypto = await loadSigningCrypto();
  const relayer = createKeyPair(crypto);
  const creates = [Buffer.from('first'), Buffer.from('second')];
  let lives = 0;
  const takeCreate = () => creates.shift();
  const lane = createLifeLane({ crypto, relayer, takeCreate, onLife: () => lives++ });
  const record = Buffer.from(`{"requestId":"${requestId}","status":"pending"}`);

  expect(lane.begin()?.toString()).toBe('first');
  const claim = lane.next(201, record)?.toString();
  expect(claim).toContain(`PATCH /requests/${requestId} HTTP/1.1\r\n`);
  expect(claim).toContain(`X-Relayer-Address: ${relayer.address}\r\n`);
  expect(claim).toMatch(/\r\n\r\n\{"status":"processing"\}$/);
  const report = lane.next(200, record)?.toString();
  expect(report).toMatch(/\r\n\r\n\{"status":"success","txHash":"0x[0-9a-f]{64}"\}$/);
  expect(lives).toBe(0);
  expect(lane.next(200, record)?.toString()).toBe('second');
  expect(lives).toBe(1);
});
