import { beforeAll, expect } from 'vitest';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { errorOf } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readPage, readRecord, readRequest, updateRequest } from '../rig/requests.ts';
import { startOwn, startShared } from '../rig/startOwn.ts';
import { relayerAt, type Target } from '../rig/target.ts';

/** Each test has requests of its own. */
let target: Target;
beforeAll(async () => {
  const shared = await startShared({ env: { CLAIM_LEASE_SECONDS: '1' }, relayerCount: 11 });
  target = shared.target;
  return shared.stop;
});

covers(
  ['lease.takeOver', 'lease.lateOwner', 'lease.stillReport', 'lease.listed', 'record.claimed'],
  'an old claim may be taken over; until somebody does, its owner may still report',
  async () => {
    const [first, second] = [relayerAt(target, 0), relayerAt(target, 1)];
    const [left, taken] = [await createRequest(target), await createRequest(target)];
    // Claimed in this order, so that once `taken` is free, the claim on `left` has run out too.
    await claim(target, left.requestId, first);
    const before = await claim(target, taken.requestId, first);
    const again = { requestId: taken.requestId, json: { status: 'processing' }, relayer: second };
    expect((await updateRequest(target, again)).status, 'the lease holds').toBe(409);

    const won = await eventually(async () => {
      const answer = await updateRequest(target, again);
      expect(answer.status).toBe(200);
      return readRecord(answer);
    });
    expect(won).toMatchObject({ status: 'processing', claimedBy: second.address });
    expect(Date.parse(won.claimedAt ?? '') - Date.parse(before.claimedAt ?? '')).toBeGreaterThanOrEqual(1000);

    for (const status of ['processing', 'pending']) {
      const query = { status, signer: left.signer };
      const page = readPage(await callAsRelayer(target, { path: '/requests', query, relayer: second }));
      expect(page.items).toMatchObject([{ requestId: left.requestId, status: 'processing' }]);
    }

    const success = { status: 'success', txHash: randomHex(32) };
    const late = await updateRequest(target, { requestId: taken.requestId, json: success, relayer: first });
    expect([late.status, errorOf(late)]).toEqual([409, expect.stringContaining('processing')]);
    expect((await updateRequest(target, { requestId: taken.requestId, json: success, relayer: second })).status).toBe(
      200,
    );
    expect((await updateRequest(target, { requestId: left.requestId, json: success, relayer: first })).status).toBe(
      200,
    );
    expect(await readRequest(target, left.requestId)).toMatchObject({ status: 'success', claimedBy: first.address });
  },
);

covers(['lease.takeOver', 'claim.once'], 'of rivals for an old claim one wins', async () => {
  const [watch, old] = [await createRequest(target), await createRequest(target)];
  await claim(target, old.requestId, relayerAt(target, 0));
  await claim(target, watch.requestId, relayerAt(target, 0));
  // When the later claim has run out, so has the earlier one.
  await eventually(() => claim(target, watch.requestId, relayerAt(target, 1)));
  const rivals = target.relayers.slice(1);
  const json = { status: 'processing' };
  const answers = await Promise.all(
    rivals.map((relayer) => updateRequest(target, { requestId: old.requestId, json, relayer })),
  );
  const won = answers.filter(({ status }) => status === 200).map((answer) => readRecord(answer).claimedAt);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(rivals.length - won.length);
  // A rival whose call came more than a lease later may have taken it over in its turn.
  const claimTimes = won.map((claimedAt) => Date.parse(claimedAt ?? '')).sort();
  for (const [n, claimedAtMs] of claimTimes.entries())
    if (n > 0) expect(claimedAtMs - Number(claimTimes[n - 1])).toBeGreaterThanOrEqual(1000);
  expect(won).not.toEqual([]);
});

covers(['lease.ownAgain'], 'the owner of a lapsed claim gets it again only after one more lease', async () => {
  const { requestId } = await createRequest(target);
  const before = await claim(target, requestId, relayerAt(target, 0));
  const again = await eventually(() => claim(target, requestId, relayerAt(target, 0)));
  expect(Date.parse(again.claimedAt ?? '') - Date.parse(before.claimedAt ?? '')).toBeGreaterThanOrEqual(2000);
});

covers(
  ['lease.most'],
  'who has held a request long enough leaves it to others, also after giving it back',
  async () => {
    const env = { CLAIM_LEASE_SECONDS: '5', MAX_CLAIM_SECONDS: '1' };
    const { target: own } = await startOwn({ env, relayerCount: 2 });
    const [holder, rival] = [relayerAt(own, 0), relayerAt(own, 1)];
    const { requestId } = await createRequest(own);
    const renew = async () =>
      await callAsRelayer(own, {
        method: 'POST',
        path: '/requests/claims',
        json: { requestIds: [requestId] },
        relayer: holder,
      });
    expect(JSON.parse((await renew()).text)).toMatchObject({ count: 1 });
    await eventually(async () => expect(JSON.parse((await renew()).text)).toMatchObject({ count: 0 }));
    const release = { method: 'POST', path: `/requests/${requestId}/release`, relayer: holder };
    expect((await callAsRelayer(own, release)).status).toBe(200);
    const again = { requestId, json: { status: 'processing' } };
    expect((await updateRequest(own, { ...again, relayer: holder })).status).toBe(409);
    expect((await updateRequest(own, { ...again, relayer: rival })).status).toBe(200);
  },
);
