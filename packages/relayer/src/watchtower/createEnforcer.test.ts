import type { Alert } from '@prism-gateway/node/alerts';
import { createAdminClient, createGatewayClient } from '@prism-gateway/sdk';
import { createLogRecorder, startFetchServer } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createEnforcer } from './createEnforcer.ts';
import type { Finding, FindingKind } from './finding.ts';
import { openWatchJournal, type WatchJournal } from './journal/openWatchJournal.ts';

const RELAYER = '0x00000000000000000000000000000000000000aa';

const finding = (requestId: string, kind: FindingKind): Finding => ({
  requestId,
  kind,
  relayer: RELAYER,
  text: 'It is so.',
  txHash: undefined,
  block: 7n,
});

/** A server with a relayer on its list, which may refuse; it notes what it is asked to do. */
async function setUp() {
  const acts: string[] = [];
  const state: { isDown: boolean; storedId: string; record: object } = { isDown: false, storedId: 'new', record: {} };
  const alerts: Alert[] = [];
  const server = await startFetchServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (state.isDown) return Response.json({ error: 'No.' }, { status: 400 });
    if (request.method === 'POST') acts.push(`${pathname} ${await request.text()}`.trim());
    if (request.method === 'GET')
      return Response.json({ relayers: [{ address: RELAYER.toUpperCase(), ...state.record }], count: 1 });
    return Response.json({ requestId: state.storedId }, { status: pathname === '/requests' ? 201 : 200 });
  });
  const journal = openWatchJournal({ path: ':memory:', now: Date.now });
  const gateway = createGatewayClient({ url: server.url });
  const admin = createAdminClient({ gateway, adminKey: 'a key' });
  const alerter = { raise: (alert: Alert) => void alerts.push(alert) };
  const enforce = createEnforcer({ journal, alerter, admin, gateway, log: createLogRecorder(), now: Date.now });
  return { acts, alerts, state, journal, enforce, [Symbol.asyncDispose]: async () => void (await server.close()) };
}

/** A request that a relayer has reported as done. */
function putEnded(journal: WatchJournal): void {
  const ended = { endedSeconds: 2n, endedBlock: 3n, reportedSeconds: 2n } as const;
  const nothing = { claimedSeconds: 1n, claimNonce: 0, txHash: undefined, ...ended } as const;
  const row = { requestId: 'r1', state: 'done', status: 'success', relayer: RELAYER, expiresSeconds: 9n } as const;
  journal.put(
    {
      ...row,
      ...nothing,
      excuse: 'none',
      claimPrice: 0n,
      idleSeconds: 0n,
      body: '{"chainName":"c"}',
      isReopened: false,
      firstBlock: 0n,
    },
    1,
  );
}

// Shows WATCH-4.
test('a liar is suspended, what it holds is released, and what it has not done is posted again; nobody else is touched', async () => {
  await using scene = await setUp();
  const { acts, state, journal, enforce } = scene;
  putEnded(journal);
  journal.addFinding(finding('r2', 'executedLater'), 1);
  await enforce();
  expect(acts).toEqual([]);

  journal.addFinding(finding('r1', 'falseSuccess'), 1);
  state.isDown = true;
  await expect(enforce()).rejects.toThrow();
  state.isDown = false;
  await enforce();
  await enforce();
  const path = `/admin/relayers/${RELAYER}`;
  expect(acts).toEqual([
    `${path}/suspend {"reason":"watchtower: falseSuccess of request r1"}`,
    `${path}/release`,
    '/requests {"chainName":"c"}',
  ]);
  journal.addFinding(finding('r3', 'falseFailure'), 1);
  journal.addFinding({ ...finding('r4', 'falseFailure'), txHash: `0x${'11'.repeat(32)}` }, 1);
  acts.length = 0;
  await enforce();
  // What was carried out must not be again.
  expect(acts.filter((act) => act.endsWith('/reopen'))).toEqual(['/admin/requests/r3/reopen']);
  expect(scene.alerts).toEqual([]);
});

// Shows WATCH-4.
test.each<[string, object, readonly string[]]>([
  ['is shut out', { suspendedAt: '2026-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:00.500Z' }, ['release']],
  ['was shut out after its claim', { updatedAt: '1970-01-01T00:00:01.500Z' }, ['release']],
  ['was let in before its claim', { updatedAt: '1970-01-01T00:00:00.500Z' }, ['suspend', 'release']],
])('of who has held a claim idle and %s, this is done', async (_, record, expected) => {
  await using scene = await setUp();
  const { acts, state, journal, enforce } = scene;
  putEnded(journal);
  state.record = record;
  journal.addFinding(finding('r1', 'idleClaim'), 1);
  await enforce();
  expect(acts.map((act) => act.split(/[ /]/)[4])).toEqual(expected);
});

test('a gateway that takes each signature once, and so gives the false record again, is reported', async () => {
  await using scene = await setUp();
  const { alerts, state, journal, enforce } = scene;
  putEnded(journal);
  state.storedId = 'R1';
  journal.addFinding(finding('r1', 'falseSuccess'), 1);
  await enforce();
  expect(alerts).toEqual([expect.objectContaining({ code: 'WATCHTOWER_NOT_POSTED_AGAIN', severity: 'critical' })]);
  expect(alerts[0]?.text).toMatch(/REQUESTS_ONCE=always.* r1 /);
});
