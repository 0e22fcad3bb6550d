import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { anyAddress, anyTxHash, pendingRequest, START } from '../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import { gatewayOptions } from '../entry/gatewayOptions.ts';
import { parseSettings } from '../entry/settings.ts';
import { type ClaimPorts, claimRequest, claimRequests } from './claim.ts';
import { releaseRequest, reportRequest } from './report.ts';

const YEAR_MS = 365 * 86_400_000;
const [owner, rival] = [anyAddress(), anyAddress()];

let rig: SqliteRig;
let ports: ClaimPorts;
let claims: string[];
let now: number;
beforeEach(async () => {
  rig = await createSqliteRig();
  claims = [];
  now = START;
  ports = {
    requests: rig.open().requests,
    newId: randomUUID,
    now: () => now,
    claimLeaseSeconds: 0,
    maxOpenClaims: 0,
    maxClaimSeconds: 0,
    claimed: (result) => claims.push(result),
  };
});
afterEach(() => rig.dispose());

async function submit(): Promise<string> {
  const record = pendingRequest();
  await ports.requests.create(record);
  return record.requestId;
}

const succeed = (requestId: string, relayer: string) =>
  reportRequest(ports, { requestId, relayer, outcome: { status: 'success', txHash: anyTxHash() } });

// Shows CLAIM-1, LEASE-1, LEASE-2.
test('a claim without a lease holds for ever', async () => {
  const requestId = await submit();
  await claimRequest(ports, requestId, owner);
  now += YEAR_MS;
  for (const relayer of [rival, owner]) {
    await expect(claimRequest(ports, requestId, relayer)).rejects.toMatchObject({ code: 'REQUEST_ALREADY_CLAIMED' });
  }
  expect(claims).toEqual(['won', 'lost', 'lost']);
});

test('a lease that has lapsed lets others in', async () => {
  ports = { ...ports, claimLeaseSeconds: 60 };
  const requestId = await submit();
  await claimRequest(ports, requestId, owner);
  now += 60_000;
  expect(await claimRequest(ports, requestId, rival)).toMatchObject({ status: 'processing', claimedBy: rival });
});

// Shows LEASE-6.
test('by default a relayer that renews for ever, or gives back and claims again, holds a request for four leases', async () => {
  const { claimLeaseSeconds, maxClaimSeconds } = gatewayOptions(parseSettings({}), new Uint8Array(32));
  ports = { ...ports, claimLeaseSeconds, maxClaimSeconds };
  const requestId = await submit();
  await claimRequest(ports, requestId, owner);
  const renew = async () => (await claimRequests(ports, [requestId], owner)).items.length;
  for (let minutes = 10; minutes < 60; minutes += 10) {
    now += 600_000;
    expect([minutes, await renew()]).toEqual([minutes, 1]);
  }
  now += 600_000;
  expect(await renew()).toBe(0);
  await releaseRequest(ports, { requestId: requestId, relayer: owner });
  await expect(claimRequest(ports, requestId, owner)).rejects.toMatchObject({ code: 'CLAIMED_TOO_LONG' });
  expect(await claimRequest(ports, requestId, rival)).toMatchObject({ claimedBy: rival });
});

// Shows REPORT-3.
test('a refusal says what is in the way: the state, the claim of another, or that there is nothing', async () => {
  const [pending, claimed, unknown] = [await submit(), await submit(), randomUUID()];
  await claimRequest(ports, claimed, owner);
  const refusals = [pending, claimed, unknown].flatMap((requestId) => [
    succeed(requestId, rival),
    releaseRequest(ports, { requestId: requestId, relayer: rival }),
  ]);
  const settled = await Promise.allSettled(refusals);
  expect(settled.map((one) => one.status === 'rejected' && one.reason.code)).toEqual([
    ...['REQUEST_NOT_CLAIMED', 'REQUEST_NOT_CLAIMED'],
    ...['CLAIM_NOT_OWNED', 'CLAIM_NOT_OWNED'],
    ...['REQUEST_NOT_FOUND', 'REQUEST_NOT_FOUND'],
  ]);
  await expect(claimRequest(ports, unknown, owner)).rejects.toMatchObject({ code: 'REQUEST_NOT_FOUND' });
  expect(await succeed(claimed, owner)).toMatchObject({ status: 'success' });
  await expect(succeed(claimed, owner)).rejects.toMatchObject({ code: 'REQUEST_NOT_CLAIMED' });
});
