import { join } from 'node:path';
import { stablecoinAbi } from '@prism-gateway/contracts';
import { type Alert, type AlertChannel, createOutbox } from '@prism-gateway/node/alerts';
import {
  createFakeClock,
  createLogRecorder,
  mountSmall,
  startBlackHole,
  startFetchServer,
  startRpcFaultProxy,
} from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Address, createPublicClient, createWalletClient, http, maxUint256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { createMonitor } from '../src/monitor/createMonitor.ts';
import { lookOnce, writeBalance } from '../src/monitor/lookOnce.ts';
import { openMonitorStore } from '../src/monitor/openMonitorStore.ts';

const ETHER = 10n ** 18n;
const DAY_MS = 86_400_000;

const disk = mountSmall();

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(async () => {
  await rig.close();
  disk?.close();
});

/** A monitor whose memory is a file, and a channel that may be away. */
async function open(
  rpcUrl: string,
  {
    timeoutMs = TIMEOUT_MS,
    dir = rig.dir,
    chainId = 31_337,
    stablecoin = rig.deployment.stablecoin as Address,
    exchange = rig.deployment.exchange as Address,
    maxHeadAgeMs = 0,
    healthUrl = undefined as string | undefined,
  } = {},
) {
  const clock = createFakeClock();
  const key = await rig.fundKey();
  const { address } = key;
  const taken: Alert[] = [];
  const texts: string[] = [];
  const line = { isUp: true };
  const channel: AlertChannel = {
    name: 'chat',
    async deliver(alert) {
      if (!line.isUp) throw new Error('away');
      taken.push(alert);
    },
    close: () => undefined,
  };
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 0 }) });
  const openAll = () => {
    const store = openMonitorStore({ file: join(dir, `monitor-${address}.db`), now: clock.now });
    const alerter = createOutbox({
      outbox: store.outbox,
      channels: [channel],
      log: createLogRecorder(),
      redact: (text) => text,
      signature: 'Gas monitor A.',
      now: clock.now,
      firstPauseMs: 1,
    });
    const unit = { name: 'payments', transactions: 2 } as const;
    const monitor = createMonitor({
      targets: [{ name: 'chain 31337', client, chainId, addresses: [address], tokens: { stablecoin, exchange }, unit }],
      warnBelow: ETHER / 10n,
      warnStablecoinsBelow: 1n,
      maxHeadAgeMs,
      healthUrl,
      store,
      alerter,
      log: createLogRecorder(),
      now: clock.now,
      monotonicNow: clock.now,
    });
    return { store, alerter, monitor };
  };
  let opened = openAll();
  const close = () => {
    opened.alerter.close();
    opened.store.close();
  };
  const restart = () => {
    close();
    opened = openAll();
  };
  /** Looks once, and gives what people are alerted to then. */
  const look = async () => {
    await opened.monitor();
    if (line.isUp) await opened.alerter.drain(TIMEOUT_MS);
    texts.push(...taken.map(({ text }) => text));
    return taken.splice(0).map(({ code, subject }) => (subject.startsWith('Reminder') ? `${code} again` : code));
  };
  const approve = async (amount: bigint) => {
    const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
    const call = { address: stablecoin, abi: stablecoinAbi, functionName: 'approve' } as const;
    const hash = await wallet.writeContract({ ...call, args: [exchange, amount], chain: null });
    await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };
  return { address, approve, clock, line, look, restart, texts, [Symbol.dispose]: close };
}

// Shows GAS-1.
test('one alert a crossing, a reminder a day and a recovery, across restarts', async () => {
  using scene = await open(rig.rpcUrl);
  const { address, clock, look, restart } = scene;
  expect(await look()).toEqual([]);
  await rig.client.setBalance({ address, value: ETHER / 10n - 1n });
  expect(await look()).toEqual(['GAS_BALANCE_LOW']);
  restart();
  expect(await look()).toEqual([]);
  clock.advance(DAY_MS);
  expect(await look()).toEqual(['GAS_BALANCE_LOW again']);
  // Not with each payment and each small top-up: a tenth above the limit.
  await rig.client.setBalance({ address, value: ETHER / 10n });
  expect(await look()).toEqual([]);
  await rig.client.setBalance({ address, value: (ETHER * 11n) / 100n });
  expect(await look()).toEqual(['GAS_BALANCE_RECOVERED']);
  expect(await look()).toEqual([]);
});

test('an approval that was never there is not missing at a first start; one that is taken back is', async () => {
  using scene = await open(rig.rpcUrl);
  const { approve, look } = scene;
  expect(await look()).toEqual([]);
  await approve(maxUint256);
  expect(await look()).toEqual([]);
  await approve(0n);
  expect(await look()).toEqual(['APPROVAL_LOW']);
});

// Shows GAS-2.
test('what no channel has taken is delivered later, after a restart too, and once', async () => {
  using scene = await open(rig.rpcUrl);
  const { address, line, look, restart } = scene;
  line.isUp = false;
  await rig.client.setBalance({ address, value: ETHER / 10n - 1n });
  expect(await look()).toEqual([]);
  restart();
  expect(await look()).toEqual([]);
  line.isUp = true;
  restart();
  expect(await look()).toEqual(['GAS_BALANCE_LOW']);
  restart();
  expect(await look()).toEqual([]);
});

test.skipIf(disk === undefined)('on a full disk it goes on to watch and to tell, and loses nothing', async () => {
  using scene = await open(rig.rpcUrl, { dir: `${disk?.dir}` });
  const { address, clock, look, restart } = scene;
  expect(await look()).toEqual([]);
  disk?.fill();
  await rig.client.setBalance({ address, value: ETHER / 10n - 1n });
  expect(await look()).toEqual(['JOURNAL_FAILED', 'GAS_BALANCE_LOW']);
  clock.advance(60_000);
  expect(await look()).toEqual([]);
  disk?.free();
  // Now that it can be written down, it is reported once more, for a restart would not know of it.
  expect((await look()).toSorted()).toEqual(['GAS_BALANCE_LOW', 'JOURNAL_FAILED_OVER']);
  restart();
  expect(await look()).toEqual([]);
  await rig.client.setBalance({ address, value: ETHER });
  expect(await look()).toEqual(['GAS_BALANCE_RECOVERED']);
});

// Shows GAS-3.
test('a node that does not answer is an alert of its own, the second time and once', async () => {
  await using hole = await startBlackHole();
  using scene = await open(hole.url, { timeoutMs: 200 });
  const { look } = scene;
  expect([await look(), await look(), await look()]).toEqual([[], ['RPC_UNREACHABLE'], []]);
});

test("the payment relayer's /health is looked at: one that hangs, or is gone, is reported the second time, and its end", async () => {
  let status = 503;
  const relayer = await startFetchServer(
    async () => new Response('No poll has gone through for 30 seconds.', { status }),
  );
  using scene = await open(rig.rpcUrl, { healthUrl: `${relayer.url}/health` });
  const { look, texts } = scene;
  expect([await look(), await look(), await look()]).toEqual([[], ['PAYMENT_RELAYER_NOT_WELL'], []]);
  expect(texts[0]).toContain('No poll has gone through');
  status = 200;
  expect(await look()).toEqual(['PAYMENT_RELAYER_RECOVERED']);
  await relayer.close();
  expect([await look(), await look()]).toEqual([[], ['PAYMENT_RELAYER_NOT_WELL']]);
});

test('a token that is none, another chain, and a node far behind: the cause is reported, and the gas is watched all the same', async () => {
  const nobody = '0x00000000000000000000000000000000000000ff';
  using scene = await open(rig.rpcUrl, { stablecoin: nobody });
  await rig.client.setBalance({ address: scene.address, value: ETHER / 10n - 1n });
  expect([await scene.look(), await scene.look(), await scene.look()]).toEqual([
    ['GAS_BALANCE_LOW'],
    ['RPC_UNREACHABLE'],
    [],
  ]);
  expect(scene.texts.at(-1)).toMatch(/STABLECOIN_ADDRESS cannot be read.*returned no data/);
  using other = await open(rig.rpcUrl, { chainId: 1 });
  expect([await other.look(), await other.look()]).toEqual([[], ['RPC_UNREACHABLE']]);
  expect(other.texts.at(-1)).toContain('The node is of chain 31337, and CHAIN_ID is 1.');
  await rig.client.mine({ blocks: 200 });
  let isBehind = false;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (isBehind && method === 'eth_blockNumber' ? { kind: 'answer', result: '0x1' } : undefined),
  });
  using behind = await open(proxy.url);
  expect(await behind.look()).toEqual([]);
  isBehind = true;
  expect([await behind.look(), await behind.look()]).toEqual([[], ['RPC_UNREACHABLE']]);
  expect(behind.texts.at(-1)).toContain('The node is behind: its newest block is 1,');
  behind.clock.advance(DAY_MS);
  expect(await behind.look()).toEqual(['RPC_UNREACHABLE again']);
  isBehind = false;
  expect(await behind.look()).toEqual(['RPC_RECOVERED']);
  // What it once made up does not make it blind for ever.
  isBehind = true;
  for (let looks = 1; looks < 10; looks += 1) await behind.look();
  expect([await behind.look(), await behind.look()]).toEqual([[], ['RPC_RECOVERED']]);
});

test('a node that stands still, and an Exchange that is none, are reported; the balances are watched all the same', async () => {
  using scene = await open(rig.rpcUrl, { maxHeadAgeMs: 600_000 });
  const { clock, look, texts } = scene;
  const { timestamp } = await rig.client.getBlock();
  clock.advance(Number(timestamp) * 1000 + 600_000 - clock.now());
  expect([await look(), await look()]).toEqual([[], []]);
  clock.advance(1001);
  expect([await look(), await look(), await look()]).toEqual([[], ['RPC_UNREACHABLE'], []]);
  expect(texts.at(-1)).toContain('The node stands still: its newest block is 10 minutes old.');
  await rig.client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(clock.now() / 1000)) });
  await rig.client.mine({ blocks: 1 });
  expect(await look()).toEqual(['RPC_RECOVERED']);

  using lost = await open(rig.rpcUrl, { exchange: '0x00000000000000000000000000000000000000ff' });
  await rig.client.setBalance({ address: lost.address, value: ETHER / 10n - 1n });
  expect([await lost.look(), await lost.look()]).toEqual([['GAS_BALANCE_LOW'], ['RPC_UNREACHABLE']]);
  expect(lost.texts.at(-1)).toContain('There is no contract at EXCHANGE_ADDRESS.');
});

test('looks once for a person or a program: what is low, and what does not answer', async () => {
  const { address } = await rig.fundKey();
  const client = createPublicClient({ transport: http(rig.rpcUrl, { retryCount: 0 }) });
  const nobody = createPublicClient({ transport: http('http://127.0.0.1:9', { retryCount: 0 }) });
  const { stablecoin, exchange } = rig.deployment;
  const unit = { name: 'payments', transactions: 2 } as const;
  const targets = [
    { name: 'chain 31337', client, addresses: [address], tokens: { stablecoin, exchange }, unit },
    { name: 'away', client: nobody, addresses: [address], unit },
  ];
  const [low, away] = await lookOnce({ warnBelow: ETHER, warnStablecoinsBelow: 10n ** 18n }, targets);
  expect(low).toMatchObject({ chain: 'chain 31337', account: address, isLow: true });
  expect(away).toEqual({ chain: 'away', account: address, isLow: true });
  const [well] = await lookOnce({ warnBelow: 1n, warnStablecoinsBelow: 0n }, targets);
  expect(well).toMatchObject({
    isLow: false,
    balanceEth: expect.stringMatching(/^\d/),
    stablecoins: expect.any(String),
  });
  expect([low, away].map((balance) => balance && writeBalance(balance))).toEqual([
    expect.stringMatching(/^LOW {2}0x.* ETH, .* stablecoins/),
    `LOW  ${address} on away: its node does not answer`,
  ]);
});
