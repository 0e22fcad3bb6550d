import { join } from 'node:path';
import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { createLogRecorder, type RpcFaultPlan, startChatReceiver, startRpcFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { openWatchJournal } from '../src/watchtower/journal/openWatchJournal.ts';
import { runAudit } from '../src/watchtower/runAudit.ts';
import { startWatchtower } from '../src/watchtower/startWatchtower.ts';
import { parseWatchSettings } from '../src/watchtower/watchSettings.ts';
import { CHAIN_NAME, connect, FEE, LONG, sign } from './rig.ts';

const CONFIRMATIONS = 2n;
const LEASE_SECONDS = 900;
/** A fee that no honest relayer takes, so that a liar is surely the one to claim. */
const POOR_FEE = 1n;
const INVENTED = `0x${'5c'.repeat(32)}` as const;
const HONEST = 0;
const LIAR = 1;
const IDLER = 2;
const WATCHER = 3;

/** A node that hides what the Forwarder has done. */
const HIDES: RpcFaultPlan = (method) => {
  if (method === 'eth_getTransactionReceipt') return { kind: 'answer', result: null };
  return method === 'eth_getLogs' ? { kind: 'answer', result: [] } : undefined;
};

/** A chain, a gateway, an honest relayer's process, a liar, one that does nothing, and a watchtower over all. */
async function setUp() {
  await using stack = new AsyncDisposableStack();
  const gatewayEnv = { CLAIM_LEASE_SECONDS: String(LEASE_SECONDS) };
  const world = stack.use(await startWorld({ users: 9, relayers: 4, gateway: gatewayEnv }));
  const chat = stack.adopt(await startChatReceiver(), (receiver) => receiver.close());
  const honest = stack.adopt(
    await startProgram('relayer', {
      env: {
        ...world.relayerEnv(HONEST),
        CONFIRMATIONS: String(CONFIRMATIONS),
        GIVE_UP_SECONDS: '0',
      },
    }),
    async (relayer) => void (await relayer.stop()),
  );
  const target = world.devnet.rpcUrl;
  const liar = stack.use(await startRpcFaultProxy({ target, plan: HIDES }));
  const other = stack.use(await startRpcFaultProxy({ target }));
  const environment = {
    ...world.relayerEnv(WATCHER, [liar.url, other.url, target].join(',')),
    DATA_DIR: join(world.dir, 'watchtower'),
    CONFIRMATIONS: String(CONFIRMATIONS),
    POLL_MS: '20',
    METRICS_PORT: '0',
    ALERT_CHAT_WEBHOOK_URL: chat.url,
    ALERT_CHAT_FORM: 'slack',
  };
  const settings = parseWatchSettings(environment);
  const watchtower = stack.adopt(
    await startWatchtower({ settings, log: createLogRecorder(), now: Date.now }),
    (running) => running.stop(),
  );
  const owned = stack.move();
  return {
    ...{ world, chat, honest, watchtower, environment, liar },
    journalPath: join(world.dir, 'watchtower', 'watchtower-31337.db'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Scene = Awaited<ReturnType<typeof setUp>>;

/** Posts a write of a user's own. */
async function post({ world }: Scene, write: { user: number; fee?: bigint; prismOf?: number }) {
  // By the machine's clock, ahead of which the blocks go here: to a relayer that has not seen the newest ones, a later time lies in the future.
  const timestamp = BigInt(Math.floor(Date.now() / 1000)) - 60n;
  const params = await sign(world, { fee: POOR_FEE, ...write, timestamp });
  const body = { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params } as const;
  const { requestId } = await world.client.submitRequest(body);
  return { requestId, params };
}

const accountOf = ({ world }: Scene, relayer: number) => privateKeyToAccount(world.relayerKeys[relayer]!);
const clientOf = (scene: Scene, relayer: number) =>
  createRelayerClient({ url: scene.world.gateway.url, account: accountOf(scene, relayer) });

async function carryOut(scene: Scene, params: ActionParams<'WRITE_DATA_FOR'>): Promise<Hex> {
  const { world } = scene;
  const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params });
  const chain = connect(world);
  const account = accountOf(scene, LIAR);
  const hash = await chain.sendTransaction({ to: world.deployment.forwarder, data, account, chain: null });
  expect(await chain.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  return hash;
}

async function readMetric({ watchtower }: Scene, name: string): Promise<number> {
  const text = await (await fetch(`${watchtower.metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^prism_watchtower_${name}\\{[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? -1);
}

/** Waits until the watchtower has seen all that there is: the newest block, and the queue as it is now. */
async function settle(scene: Scene): Promise<bigint> {
  const block = await connect(scene.world).getBlockNumber({ cacheTime: 0 });
  await expect.poll(() => readMetric(scene, 'head'), LONG).toBeGreaterThanOrEqual(Number(block));
  const looks = await readMetric(scene, 'looks_total');
  // The next look may have begun before.
  await expect.poll(() => readMetric(scene, 'looks_total'), LONG).toBeGreaterThan(looks + 1);
  return block;
}

/** Makes blocks, one by one, each seen by the watchtower. */
async function mine(scene: Scene, blocks: bigint): Promise<void> {
  for (let block = 0n; block < blocks; block += 1n) {
    await connect(scene.world).mine({ blocks: 1 });
    await settle(scene);
  }
}

/** Takes the newest blocks away; the node makes others, and goes by the machine's clock again. */
async function reorganise({ world }: Scene, depth: number): Promise<void> {
  const chain = connect(world);
  await chain.request({ method: 'anvil_reorg', params: [depth, []] } as never);
  const { timestamp } = await chain.getBlock();
  const now = BigInt(Math.floor(Date.now() / 1000));
  await chain.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n });
}

/** Waits until the machine's clock has caught up with the chain's, which goes a second ahead with each block made at will. */
async function awaitClock({ world }: Scene): Promise<void> {
  const { timestamp } = await connect(world).getBlock();
  await expect.poll(() => Date.now() / 1000, LONG).toBeGreaterThan(Number(timestamp) + 1);
}

/** Mines until the honest relayer has ended a request. */
async function awaitHonest(scene: Scene, requestId: string) {
  const { world } = scene;
  const read = async () => {
    await connect(world).mine({ blocks: 1 });
    return (await world.client.getRequest(requestId)).status;
  };
  await expect.poll(read, { ...LONG, interval: 200 }).toMatch(/success|failed/);
  return await world.client.getRequest(requestId);
}

/** The honest relayer carries a request out, and reports one that cannot be. @returns the transaction */
async function playHonest(scene: Scene): Promise<Hex> {
  const first = await post(scene, { user: 6, fee: FEE });
  const foreign = await post(scene, { user: 7, fee: FEE, prismOf: 8 });
  expect(await awaitHonest(scene, foreign.requestId)).toMatchObject({ status: 'failed' });
  const done = await awaitHonest(scene, first.requestId);
  expect(done).toMatchObject({ status: 'success', claimedBy: accountOf(scene, HONEST).address });
  return done.txHash as Hex;
}

/** A reorganisation takes the honest relayer's transaction away. */
async function playReorganised(scene: Scene): Promise<void> {
  const { world } = scene;
  const second = await post(scene, { user: 8, fee: FEE });
  await expect.poll(() => world.client.getRequest(second.requestId), LONG).toMatchObject({ status: 'processing' });
  await settle(scene);
  await reorganise(scene, 1);
  expect(await awaitHonest(scene, second.requestId)).toMatchObject({ status: 'success' });
  await mine(scene, CONFIRMATIONS + 1n);
}

/** A lie, and when it was reported: by then there was nothing that showed it before. */
interface Lie {
  readonly requestId: string;
  readonly kind: string;
  readonly block: bigint;
}

/** @param honestTx - a real transaction that has carried out something else */
async function reportLies(scene: Scene, honestTx: Hex): Promise<readonly Lie[]> {
  const liar = clientOf(scene, LIAR);
  const lies: Lie[] = [];
  async function lie(kind: string, user: number, act: (given: Awaited<ReturnType<typeof post>>) => Promise<unknown>) {
    // When it was carried out, and when it was reported, is compared.
    if (kind === 'falseFailure') await awaitClock(scene);
    const given = await post(scene, { user });
    await liar.claim(given.requestId);
    await act(given);
    lies.push({ requestId: given.requestId, kind, block: await connect(scene.world).getBlockNumber({ cacheTime: 0 }) });
    await settle(scene);
  }
  await lie('falseSuccess', 0, ({ requestId }) => liar.reportSuccess(requestId, INVENTED));
  await lie('falseSuccess', 1, ({ requestId }) => liar.reportSuccess(requestId, honestTx));
  await lie('wrongTransaction', 2, async ({ requestId, params }) => {
    await carryOut(scene, params);
    await liar.reportSuccess(requestId, honestTx);
  });
  await lie('falseFailure', 3, async ({ requestId, params }) => {
    await carryOut(scene, params);
    await awaitClock(scene);
    await liar.reportFailure(requestId, 'out of luck');
  });
  return lies;
}

/** @returns what was found, by request */
function readFindings({ journalPath }: Scene) {
  const journal = openWatchJournal({ path: journalPath, now: Date.now });
  try {
    return new Map(journal.listFindings().map((finding) => [finding.requestId, finding]));
  } finally {
    journal.close();
  }
}

async function audit({ environment }: Scene, ...more: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  return {
    code: await runAudit({ args: ['--since', '1d', ...more], environment, print, now: Date.now }),
    text: lines.join('\n'),
  };
}

// Shows WATCH-1, WATCH-2, WATCH-3, WATCH-5.
test.each(Array.from({ length: sized({ small: 1, long: 20 }) }, (_, run) => run))(
  'every lie is found within the confirmations and a block, and no honest relayer is accused, run %i',
  async () => {
    await using scene = await setUp();
    const honestTx = await playHonest(scene);
    expect([...readFindings(scene).values()]).toEqual([]);
    expect(await audit(scene)).toMatchObject({ code: 0 });
    // Until here the first node hid all that was carried out.
    scene.liar.setPlan(() => undefined);
    // What was reported before the watchtower's first look accuses nobody.
    await settle(scene);

    // While nothing is open the chain is looked at once a minute.
    const held = await post(scene, { user: 5 });
    await clientOf(scene, IDLER).claim(held.requestId);
    const lies = await reportLies(scene, honestTx);
    await mine(scene, CONFIRMATIONS + 1n);
    const found = readFindings(scene);
    const liar = accountOf(scene, LIAR).address.toLowerCase();
    for (const { requestId, kind, block } of lies) {
      const finding = found.get(requestId);
      expect(finding).toMatchObject({ kind, relayer: liar });
      // Within the confirmations and a block, and one more while a busy machine's nodes take their time to confirm it.
      expect(Number(finding!.block - block)).toBeLessThanOrEqual(Number(CONFIRMATIONS) + 2);
    }
    expect(found.size).toBe(lies.length);
    const status = await (await fetch(`${scene.watchtower.metricsUrl}/status`)).json();
    const [newest] = lies.toReversed();
    expect(status).toMatchObject({
      program: 'watchtower',
      chains: [
        {
          total: lies.length,
          findings: expect.arrayContaining([
            expect.objectContaining({ ...newest, block: expect.any(String), relayer: liar, isLie: true }),
          ]),
        },
      ],
    });

    // Only time that was seen counts.
    for (let step = 0; step < 6; step += 1) {
      await connect(scene.world).increaseTime({ seconds: LEASE_SECONDS / 4 });
      await mine(scene, 1n);
    }
    const idler = accountOf(scene, IDLER).address.toLowerCase();
    expect(readFindings(scene).get(held.requestId)).toMatchObject({ kind: 'idleClaim', relayer: idler });

    // After the lies: what is reported soon after one accuses nobody.
    await playReorganised(scene);
    // Deeper than the confirmations: what was true when it was evaluated stays so.
    await reorganise(scene, 4);
    await mine(scene, CONFIRMATIONS + 1n);
    expect(readFindings(scene).size).toBe(lies.length + 1);
    await expect.poll(() => scene.chat.messages.length, LONG).toBeGreaterThan(0);
    const { code, text } = await audit(scene);
    expect(code).toBe(1);
    expect(text).toContain(lies[0]!.requestId);
    expect(text).not.toContain(accountOf(scene, HONEST).address.toLowerCase());
    const { chains, findings } = JSON.parse((await audit(scene, '--json')).text);
    expect(chains).toHaveLength(1);
    expect(findings.map(({ requestId }: { requestId: string }) => requestId)).toContain(lies[0]!.requestId);
  },
);
