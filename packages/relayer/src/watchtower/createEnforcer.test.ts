import { createAdminClient, createGatewayClient } from '@prism-gateway/sdk';
import { createLogRecorder, startFetchServer } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createEnforcer } from './createEnforcer.ts';
import type { Finding, FindingKind } from './finding.ts';
import { openWatchJournal } from './watchJournal.ts';

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
  const state = { isDown: false };
  const server = await startFetchServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (state.isDown) return Response.json({ error: 'No.' }, { status: 400 });
    if (request.method === 'POST') acts.push(`${pathname} ${await request.text()}`.trim());
    if (request.method === 'GET') return Response.json({ relayers: [{ address: RELAYER.toUpperCase() }], count: 1 });
    return Response.json({ requestId: 'new' }, { status: pathname === '/requests' ? 201 : 200 });
  });
  const journal = openWatchJournal({ path: ':memory:', now: Date.now });
  const gateway = createGatewayClient({ url: server.url });
  const admin = createAdminClient({ gateway, adminKey: 'a key' });
  const enforce = createEnforcer({ journal, admin, gateway, log: createLogRecorder(), now: Date.now });
  return { acts, state, journal, enforce, [Symbol.asyncDispose]: async () => void (await server.close()) };
}

// Shows WATCH-4.
test('a liar is suspended, what it holds is released, and what it has not done is posted again; nobody else is touched', async () => {
  await using scene = await setUp();
  const { acts, state, journal, enforce } = scene;
  const nothing = { claimedSeconds: 1n, claimNonce: 0, txHash: undefined, endedSeconds: 2n, endedBlock: 3n } as const;
  const row = { requestId: 'r1', state: 'done', status: 'success', relayer: RELAYER, expiresSeconds: 9n } as const;
  journal.put({ ...row, ...nothing, isExcused: false, body: '{"chainName":"c"}' }, { signers: [], atMs: 1 });
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
});
