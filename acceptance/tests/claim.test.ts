import { expect } from 'vitest';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { errorOf } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readRecord, readRequest, updateRequest } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const [owner, rival] = [relayerAt(target, 5), relayerAt(target, 6)];
const CLAIM = { status: 'processing' };

covers(
  ['updateRequest.200', 'record.claimed', 'record.fields', 'times'],
  'a claim answers the whole record: processing, with who claimed it and when',
  async () => {
    const before = await createRequest(target);
    const answer = await updateRequest(target, { requestId: before.requestId, json: CLAIM, relayer: owner });
    expect(answer.status, answer.text).toBe(200);
    const record = readRecord(answer);
    const { claimedBy, claimedAt, updatedAt, status, ...rest } = record;
    const { updatedAt: _u, status: _s, ...created } = before;
    expect(rest).toEqual(created);
    expect([status, claimedBy?.toLowerCase()]).toEqual(['processing', owner.address.toLowerCase()]);
    expect(claimedAt).toBe(updatedAt);
    expect(updatedAt >= before.createdAt).toBe(true);
    expect(await readRequest(target, before.requestId)).toEqual(record);
  },
);

covers(
  ['claim.once', 'updateRequest.409', 'conflict.sentence'],
  'of twenty rivals one wins, and nineteen get 409',
  async () => {
    for (let round = 0; round < 3; round++) {
      const { requestId } = await createRequest(target);
      const rivals = target.relayers.slice(0, 20);
      const answers = await Promise.all(
        rivals.map((relayer) => updateRequest(target, { requestId, json: CLAIM, relayer })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
      const winner = rivals[answers.findIndex(({ status }) => status === 200)];
      const record = await readRequest(target, requestId);
      expect(record.claimedBy?.toLowerCase()).toBe(winner?.address.toLowerCase());
      for (const answer of answers.filter(({ status }) => status === 409))
        expect(errorOf(answer)).toMatch(/processing/);
    }
  },
);

covers(['claim.once', 'claim.again'], 'twenty claims of one relayer at once: one wins', async () => {
  const { requestId } = await createRequest(target);
  const calls = Array.from({ length: 20 }, () => updateRequest(target, { requestId, json: CLAIM, relayer: owner }));
  const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
});

covers(
  ['claim.again', 'updateRequest.409', 'conflict.sentence', 'conflict.noChange'],
  'a claimed request is not claimed again, by its owner neither',
  async () => {
    const { requestId } = await createRequest(target);
    const record = await claim(target, requestId, owner);
    for (const relayer of [owner, rival]) {
      const answer = await updateRequest(target, { requestId, json: CLAIM, relayer });
      expect(answer.status).toBe(409);
      expect(errorOf(answer)).toMatch(/processing/);
    }
    expect(await readRequest(target, requestId)).toEqual(record);
  },
);

covers(
  ['claim.final', 'report.fromFinal', 'conflict.sentence', 'conflict.noChange'],
  'what has ended stays as it ended',
  async () => {
    const txHash = randomHex(32);
    const ends = [
      { status: 'success', txHash },
      { status: 'failed', errorMessage: 'reverted' },
    ];
    for (const end of ends) {
      const { requestId } = await createRequest(target);
      await claim(target, requestId, owner);
      const record = readRecord(await updateRequest(target, { requestId, json: end, relayer: owner }));
      expect(record.status).toBe(end.status);
      for (const json of [CLAIM, ...ends, { status: 'success', txHash: randomHex(32) }]) {
        for (const relayer of [owner, rival]) {
          const answer = await updateRequest(target, { requestId, json, relayer });
          expect([json, answer.status]).toEqual([json, 409]);
          expect(errorOf(answer)).toContain(end.status);
          expect(errorOf(answer)).toContain(json.status);
        }
      }
      expect(await readRequest(target, requestId)).toEqual(record);
    }
  },
);

covers(['claim.once'], 'a claim by an address in lower case is a claim of that relayer', async () => {
  const { requestId } = await createRequest(target);
  const path = `/requests/${requestId}`;
  const headers = { 'x-relayer-address': owner.address.toLowerCase() };
  const claimed = await callAsRelayer(target, { method: 'PATCH', path, json: CLAIM, headers, relayer: owner });
  expect(claimed.status).toBe(200);
  const json = { status: 'success', txHash: randomHex(32) };
  expect((await updateRequest(target, { requestId, json, relayer: owner })).status).toBe(200);
});

covers(['updateRequest.404'], 'what is not there is neither claimed nor reported on', async () => {
  const report = { status: 'failed', errorMessage: 'no gas' };
  for (const json of [CLAIM, report]) {
    const answer = await updateRequest(target, { requestId: crypto.randomUUID(), json, relayer: owner });
    expect([answer.status, errorOf(answer)]).toEqual([404, expect.stringContaining('request')]);
  }
});
