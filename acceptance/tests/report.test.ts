import { expect } from 'vitest';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readRecord, readRequest, updateRequest } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const [owner, rival] = [relayerAt(target, 7), relayerAt(target, 8)];

async function createClaimed(): Promise<string> {
  const { requestId } = await createRequest(target);
  await claim(target, requestId, owner);
  return requestId;
}

const report = (requestId: string, json: unknown, relayer = owner) =>
  updateRequest(target, { requestId, json, relayer });

covers(
  ['report.success', 'record.outcome', 'updateRequest.200', 'record.absent', 'record.claimed'],
  'success, with its transaction',
  async () => {
    const requestId = await createClaimed();
    const before = await readRequest(target, requestId);
    const txHash = `0x${'aB'.repeat(32)}`;
    const answer = await report(requestId, { status: 'success', txHash });
    expect(answer.status, answer.text).toBe(200);
    const record = readRecord(answer);
    expect(record).toEqual({ ...before, status: 'success', txHash, updatedAt: record.updatedAt });
    expect(record.updatedAt >= before.updatedAt).toBe(true);
    expect(await readRequest(target, requestId)).toEqual(record);
  },
);

covers(
  ['report.failed', 'record.outcome', 'updateRequest.200', 'record.absent'],
  'failure, with its message',
  async () => {
    const requestId = await createClaimed();
    const before = await readRequest(target, requestId);
    const errorMessage = 'execution reverted: "InsufficientBalance"\n\t\\ é 💸 \u2028 </script>';
    const record = readRecord(await report(requestId, { status: 'failed', errorMessage }));
    expect(record).toEqual({ ...before, status: 'failed', errorMessage, updatedAt: record.updatedAt });
    expect(await readRequest(target, requestId)).toEqual(record);
  },
);

covers(['report.errorMessage'], 'errorMessage: 1 to 1000 code points, not code units', async () => {
  const requestId = await createClaimed();
  const wrong = [
    '',
    'x'.repeat(1001),
    '💸'.repeat(1001),
    `${'💸'.repeat(1000)}x`,
    'x'.repeat(100_000),
    null,
    7,
    ['x'],
    {},
  ];
  for (const errorMessage of wrong) {
    expect(faultPaths(await report(requestId, { status: 'failed', errorMessage }))).toEqual(['errorMessage']);
  }
  const longest = '💸'.repeat(1000);
  const answer = await report(requestId, { status: 'failed', errorMessage: longest });
  expect(answer.status, answer.text.slice(0, 200)).toBe(200);
  expect((await readRequest(target, requestId)).errorMessage).toBe(longest);
  const shortest = await createClaimed();
  expect(readRecord(await report(shortest, { status: 'failed', errorMessage: ' ' })).errorMessage).toBe(' ');
});

covers(['report.txHash'], 'txHash: 0x and 64 hex digits', async () => {
  const requestId = await createClaimed();
  const hash = randomHex(32);
  const wrong = [
    '',
    '0x',
    hash.slice(2),
    hash.slice(0, -1),
    `${hash}0`,
    `0X${hash.slice(2)}`,
    `0x${'g'.repeat(64)}`,
    `${hash}\n`,
    null,
    7,
    [hash],
  ];
  for (const txHash of wrong)
    expect(faultPaths(await report(requestId, { status: 'success', txHash }))).toEqual(['txHash']);
  expect((await report(requestId, { status: 'success', txHash: hash })).status).toBe(200);
});

covers(['report.fieldRequired', 'updateRequest.400'], 'txHash with success, errorMessage with failed', async () => {
  const requestId = await createClaimed();
  expect(faultPaths(await report(requestId, { status: 'success' }))).toEqual(['txHash']);
  expect(faultPaths(await report(requestId, { status: 'failed' }))).toEqual(['errorMessage']);
});

covers(
  ['report.foreignFields', 'updateRequest.400'],
  'fields that do not belong to the asked status are 400',
  async () => {
    const { requestId } = await createRequest(target);
    const [txHash, errorMessage] = [randomHex(32), 'x'];
    const cases = [
      [{ status: 'processing', txHash }, ['txHash']],
      [{ status: 'processing', errorMessage }, ['errorMessage']],
      [{ status: 'processing', txHash, errorMessage }, ['errorMessage', 'txHash']],
      [{ status: 'success', txHash, errorMessage }, ['errorMessage']],
      [{ status: 'failed', txHash, errorMessage }, ['txHash']],
      [{ status: 'failed', txHash }, ['errorMessage', 'txHash']],
      [{ status: 'processing', txHash: null }, ['txHash']],
    ] as const;
    for (const [json, paths] of cases) {
      const named = new Set(faultPaths(await report(requestId, json)));
      expect([json, [...named].sort()]).toEqual([json, paths]);
    }
    expect((await readRequest(target, requestId)).status).toBe('pending');
  },
);

covers(['report.pendingAsked', 'updateRequest.400'], 'no other status can be asked for', async () => {
  const requestId = await createClaimed();
  for (const status of ['pending', 'Processing', 'done', '', null, 7, ['success']]) {
    expect([status, ...faultPaths(await report(requestId, { status }))]).toEqual([status, 'status']);
  }
  expect(faultPaths(await report(requestId, {}))).toEqual(['status']);
});

covers(
  ['report.owner', 'updateRequest.409', 'conflict.sentence', 'conflict.noChange'],
  'another relayer than the one that claimed gets 409',
  async () => {
    const requestId = await createClaimed();
    const before = await readRequest(target, requestId);
    const reports = [
      { status: 'success', txHash: randomHex(32) },
      { status: 'failed', errorMessage: 'mine!' },
    ];
    for (const json of reports) {
      const answer = await report(requestId, json, rival);
      expect([json, answer.status]).toEqual([json, 409]);
      expect(errorOf(answer)).toContain('processing');
      expect(errorOf(answer)).toContain(json.status);
    }
    expect(await readRequest(target, requestId)).toEqual(before);
  },
);

covers(
  ['report.fromPending', 'updateRequest.409', 'conflict.sentence', 'conflict.noChange'],
  'nothing is reported of a pending request',
  async () => {
    const record = await createRequest(target);
    for (const json of [
      { status: 'success', txHash: randomHex(32) },
      { status: 'failed', errorMessage: 'x' },
    ]) {
      const answer = await report(record.requestId, json);
      expect([json, answer.status]).toEqual([json, 409]);
      expect(errorOf(answer)).toContain('pending');
      expect(errorOf(answer)).toContain(json.status);
    }
    expect(await readRequest(target, record.requestId)).toEqual(record);
  },
);

covers(
  ['report.fromFinal', 'updateRequest.409'],
  'of several reports at once one counts, and a second is 409',
  async () => {
    const requestId = await createClaimed();
    const hashes = Array.from({ length: 10 }, () => randomHex(32));
    const answers = await Promise.all(hashes.map((txHash) => report(requestId, { status: 'success', txHash })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const winner = hashes[answers.findIndex(({ status }) => status === 200)];
    expect((await readRequest(target, requestId)).txHash).toBe(winner);
    expect((await report(requestId, { status: 'success', txHash: winner })).status).toBe(409);
  },
);
