import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FaultProxy, startFaultProxy, startRpcFaultProxy } from '@prism-gateway/testing';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandInput, explainRequest, showStatus } from '../src/entry/showStatus.ts';
import { post, waitFor } from './rig.ts';

const ENTRY = fileURLToPath(new URL('../src/entry/relayer.ts', import.meta.url));
const CREDIT = 10n ** 18n;

let world: World;
let proxy: Awaited<ReturnType<typeof startRpcFaultProxy>>;
let way: FaultProxy;
let relayer: Program;
/** Methods that the node refuses now. */
let refused: readonly string[] = [];

beforeAll(async () => {
  world = await startWorld({ users: 3, relayers: 1 });
  proxy = await startRpcFaultProxy({
    target: world.devnet.rpcUrl,
    plan: (method) =>
      refused.includes(method) ? { kind: 'error', code: -32_600, message: 'this method is not for you' } : undefined,
  });
  way = await startFaultProxy({ upstream: world.gateway.url });
  const env = { ...world.relayerEnv(0, proxy.url), GATEWAY_URL: way.url };
  relayer = await startProgram('relayer', { env: { ...env, POLL_MAX_MS: '300' } });
});
afterAll(async () => {
  await relayer?.kill();
  await way?.close();
  await proxy?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const environment = () => ({
  DATA_DIR: world.relayerEnv(0).DATA_DIR ?? '',
  METRICS_PORT: new URL(relayer.url).port,
});

/** The output of a command beside the relayer at work. */
async function report(
  command: (input: CommandInput) => void | Promise<void>,
  ...args: readonly string[]
): Promise<string> {
  const lines: string[] = [];
  await command({ args, environment: environment(), print: (line) => lines.push(line) });
  return lines.join('\n');
}

/** The status endpoint's part on the one chain. */
async function readChain() {
  const status = await (await fetch(`${relayer.url}/status`)).json();
  expect(status).toMatchObject({ faults: [], chains: [{ chainName: 'eip155:31337', chainId: 31_337 }] });
  return (status as { chains: [{ transactions: string; earnedCredits: string; evaluated: object; waiting: object }] })
    .chains[0];
}

async function readHealth(): Promise<string> {
  const response = await fetch(`${relayer.url}/health`);
  return `${response.status} ${(await response.text()).replace(/since \S+: /, '')}`;
}

// Shows COST-1.
test('at its start it tells what the chain charges', () => {
  const reported = '"model":"plain","msg":"what the chain charges: gas is all that a transaction costs"';
  expect(relayer.output.filter((line) => line.includes(reported))).toHaveLength(1);
});

test('it tells what it holds, what it has evaluated and why, and what it has spent and earned', async () => {
  await expect.poll(readHealth).toBe('200 ok\n');
  const before = await readChain();
  const [poor, paid] = [await post(world, { user: 0, fee: CREDIT / 1000n }), await post(world, { user: 1 })];
  await waitFor(world, paid);
  await expect.poll(() => relayer.readMetric('prism_relayer_requests', 'reason="fee"')).toBe(1);
  const transactions = `${Number(before.transactions) + 1}`;
  // The gateway knows of the report a moment before the relayer has counted it.
  await expect.poll(readChain).toMatchObject({
    transactions,
    earnedCredits: `${Number(before.earnedCredits) + 3000}`,
    evaluated: { byVerdict: { fee: 1, ready: Number(transactions) } },
    waiting: [{ requestId: poor, verdict: 'fee', waitsFor: 'gas at a price that its fee pays' }],
  });
  const text = await report(showStatus);
  expect(text).toContain('Health: ok');
  expect(text).toContain(`${poor}  fee: waits for gas at a price that its fee pays`);
  // The disk has it a moment later than the relayer's own memory.
  const readDisk = async () => JSON.parse(await report(showStatus, '--json'));
  await expect.poll(readDisk).toMatchObject({ health: 'ok', chains: [{ transactions }] });
  await expect.poll(() => report(explainRequest, paid)).toContain('reported  by reportOutcomes');
  const story = await report(explainRequest, paid);
  for (const word of [
    'claiming  by claimRequests',
    'submitted  by submitClaims',
    'txHash',
    'wei a unit, cancelled from ',
    /transaction 0x\w{64}: account nonce \d+, at most \d+ wei a unit; intent \S+#1 is confirmed, in block \d+ since /,
  ]) {
    expect(story).toMatch(word);
  }
  const about = await (await fetch(`${relayer.url}/status?about=${paid.toUpperCase()}`)).json();
  expect(about).toMatchObject({
    program: 'relayer',
    chains: [
      { story: { requestId: paid, transactions: [{ kind: 'call', state: 'confirmed', mined: expect.anything() }] } },
    ],
  });
  expect(JSON.stringify(await readChain())).not.toContain('"story"');
  expect(await report(explainRequest, poor)).toContain('never claimed by this relayer');
  const unknown = '00000000-0000-7000-8000-000000000000';
  await expect(report(explainRequest, unknown)).rejects.toThrow(/has seen request/);
  // As an operator does it.
  const env = { ...process.env, ...environment() };
  const { stdout } = await promisify(execFile)(process.execPath, [ENTRY, 'explain', paid.toUpperCase()], { env });
  expect(stdout.trim()).toBe(story);
});

test('its health is red, with the reason, while it cannot evaluate, or cannot see the chain, and well again afterwards', async () => {
  await expect.poll(readHealth).toBe('200 ok\n');
  refused = ['eth_simulateV1', 'eth_estimateGas'];
  const requestId = await post(world, { user: 2 });
  await expect.poll(readHealth).toMatch(/^503 eip155:31337: cannot evaluate requests The node/);
  refused = ['eth_getBlockByNumber'];
  await expect.poll(readHealth).toMatch(/^503 eip155:31337: cannot see the chain The node/);
  refused = [];
  await expect.poll(readHealth).toBe('200 ok\n');
  const { status } = await waitFor(world, requestId);
  expect(status).toBe('success');
});

test('its health is red while it cannot reach the gateway', async () => {
  way.setShares({ cutBefore: 1 });
  way.cutAll();
  await expect.poll(readHealth).toBe('503 cannot reach the gateway it does not answer\n');
  way.setShares({});
  // Before a long wait for news ends, which would be 25 seconds: the first call does not wait.
  await expect.poll(readHealth, { timeout: 20_000 }).toBe('200 ok\n');
});
