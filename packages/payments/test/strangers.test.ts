import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { encodePayout } from '../src/chain/calls.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { startForger } from './rig/forgeTransfers.ts';
import { startLine } from './rig/startLine.ts';
import { codesOf, type Scene, startScene } from './rig/startScene.ts';

const AMOUNT = 5_000_000n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 1500 });
});

afterAll(() => rig.close());

async function send(key: RigKey, call: { readonly to: Address; readonly data: Hex }): Promise<Hex> {
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  const hash = await wallet.sendTransaction({ ...call, gas: 300_000n, chain: null });
  const { status } = await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  expect(status).toBe('success');
  return hash;
}

async function countTransfers(wallet: Address): Promise<number> {
  const event = { address: rig.deployment.creditToken, abi: creditTokenAbi, eventName: 'Transfer' } as const;
  return (await rig.client.getContractEvents({ ...event, args: { to: wallet }, fromBlock: 0n })).length;
}

const release = (scene: Scene, id: string, ...more: readonly string[]) =>
  runCommand(['release', id, '--why', 'looked at', ...more], { environment: scene.settings, print: () => undefined });

// Shows PAY-9.
test('a stranger that makes transfers of nothing look like the payout of a payment: it is paid all the same', async () => {
  const key = await rig.fundKey();
  const forger = await startForger(rig, key.address);
  const { creditToken } = rig.deployment;
  const frontend = await rig.startFrontend();
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  const payment = { creditToken, paymentIntentId, walletAddress, credits: OWED };
  const forged = await forger.send(encodePayout({ ...payment, payouts: creditToken }).data);
  await send(await rig.fundKey(), encodePayout({ ...payment, credits: 0n }));
  const scene = await startScene(rig, { key, frontend });
  await scene.waitForAll();
  expect(scene.txHashOf(paymentIntentId)).not.toBe(forged);
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(codesOf(scene.instance)).toEqual([]);
  await scene.instance.stop();
});

// Shows PAY-9.
test('a stranger pays a unit with the payout id of a payment: it is held and told once, and paid once a person has dismissed that', async () => {
  const [key, stranger] = [await rig.fundKey(), await rig.fundKey()];
  await rig.giveCredits(stranger.address, 1n);
  const { creditToken } = rig.deployment;
  const frontend = await rig.startFrontend();
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  await send(stranger, encodePayout({ creditToken, paymentIntentId, walletAddress, credits: 1n }));
  const scene = await startScene(rig, { key, frontend });
  await scene.waitForState(paymentIntentId, 'held');
  expect(codesOf(scene.instance)).toEqual(['PAYOUT_BY_STRANGER']);
  await release(scene, paymentIntentId);
  await scene.waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(OWED + 1n);
  expect(codesOf(scene.instance)).toEqual(['PAYOUT_BY_STRANGER', 'PAYMENT_OVER']);
  await scene.instance.stop();
});

// Shows PAY-9.
test('two instances that nobody has named to each other, leases of 1.5 s, and completions that answer 500: none is paid twice', async () => {
  const frontend = await rig.startFrontend();
  const line = await startLine(() => frontend.url);
  line.refuse('/api/relayer/complete');
  const scenes = await Promise.all(
    [await rig.fundKey(), await rig.fundKey()].map((key) =>
      startScene(rig, { key, frontend, overrides: { FRONTEND_URL: line.url } }),
    ),
  );
  const payments = Array.from({ length: sized({ small: 4, long: 20 }) }, () => rig.addPayment(AMOUNT, frontend));
  // Whoever comes second holds it, and says so.
  const isHeld = ({ paymentIntentId: id }: (typeof payments)[number]) =>
    scenes.some(({ instance }) => instance.relayer.journal.get(id)?.state === 'held');
  await waitUntil(() => payments.every(isHeld), { timeoutMs: TIMEOUT_MS, what: 'not all are held' });
  line.refuse(undefined);
  await waitUntil(() => frontend.store.list().every(({ txHash }) => txHash !== undefined), {
    timeoutMs: TIMEOUT_MS,
    what: 'not all are completed',
  });
  for (const { walletAddress } of payments) {
    expect(await countTransfers(walletAddress)).toBe(1);
    expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  }
  const codes = scenes.flatMap(({ instance }) => codesOf(instance)).filter((code) => code === 'PAYOUT_BY_STRANGER');
  expect(codes).toHaveLength(payments.length);
  await Promise.all(scenes.map(({ instance }) => instance.stop()));
  await line.close();
});

// Shows PAY-9.
test('two instances that nobody has named to each other, and a claim that ends while its payout waits to be mined: paid once', async () => {
  const frontend = await rig.startFrontend();
  const keys = [await rig.fundKey(), await rig.fundKey()];
  for (const { address } of keys) await rig.giveCredits(address, 10n * OWED);
  const scenes = await Promise.all(keys.map((key) => startScene(rig, { key, frontend })));
  const waitForBoth = (holds: (scene: Scene) => boolean, what: string) =>
    waitUntil(() => scenes.every(holds), { timeoutMs: TIMEOUT_MS, what });
  rig.addPayment(AMOUNT, frontend);
  await waitForBoth(({ instance }) => instance.relayer.journal.fact('approvals') !== undefined, 'not approved');
  await scenes[0]?.waitForAll();
  const { paymentIntentId, walletAddress } = await rig.betweenBlocks(async () => {
    await rig.client.setAutomine(false);
    const payment = rig.addPayment(AMOUNT, frontend);
    const isOffered = ({ instance: { log } }: Scene) =>
      log.lines.some(
        ({ fields: { type, intentId } }) =>
          // Cancelled by the first if the second has claimed it before that was broadcast.
          ['broadcast', 'refused', 'cancelling'].includes(`${type}`) &&
          `${intentId}` === `payout:1:${payment.paymentIntentId}`,
      );
    await waitForBoth(isOffered, 'not claimed by both');
    await rig.client.setAutomine(true);
    return payment;
  });
  await scenes[0]?.waitForAll();
  const stateOf = ({ instance }: Scene) => `${instance.relayer.journal.get(paymentIntentId)?.state}`;
  await waitForBoth((scene) => ['completed', 'given back'].includes(stateOf(scene)), 'not at rest');
  expect(await countTransfers(walletAddress)).toBe(1);
  expect(scenes.map(stateOf).toSorted()).toEqual(['completed', 'given back']);
  await Promise.all(scenes.map(({ instance }) => instance.stop()));
});

// Shows PAY-13.
test('an instance that is held up beyond its lease lets whoever has claimed the payment since pay it, and pays it once if nobody does', async () => {
  const frontend = await rig.startFrontend();
  const key = await rig.fundKey();
  // Each look at what waits in the node takes three times as long as the lease.
  await using node = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (_, __, [block, isWhole]) => (block === 'pending' && isWhole ? { kind: 'stallBefore' } : undefined),
  });
  const scene = await startScene(rig, { key, frontend, overrides: { RPC_URL: node.url, RPC_TIMEOUT_MS: '1500' } });
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  await scene.waitForState(paymentIntentId, 'transferring');
  const isClaimed = () => frontend.store.claim(paymentIntentId).outcome === 'claimed';
  await waitUntil(isClaimed, { timeoutMs: TIMEOUT_MS, what: 'the lease has not ended' });
  await scene.waitForState(paymentIntentId, 'given back');
  expect(await countTransfers(walletAddress)).toBe(0);
  await scene.waitForAll();
  expect(await countTransfers(walletAddress)).toBe(1);
  await scene.instance.stop();
});

// Shows PAY-10.
test("a peer's payout of a unit, through Payouts: held and told, and closed by a person, for the contract pays nothing more", async () => {
  const [key, peer] = [await rig.fundKey(), await rig.fundKey()];
  const payouts = await rig.deployPayouts([key.address, peer.address]);
  await rig.giveCredits(peer.address, 1n);
  const { creditToken } = rig.deployment;
  await send(peer, { to: creditToken, data: approveAll(payouts) });
  const frontend = await rig.startFrontend();
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  await send(peer, encodePayout({ creditToken, payouts, paymentIntentId, walletAddress, credits: 1n }));
  const named = { RELAYER_ADDRESSES: peer.address, PAYOUTS_ADDRESS: payouts };
  const scene = await startScene(rig, { key, frontend, overrides: named });
  await scene.waitForState(paymentIntentId, 'held');
  expect(codesOf(scene.instance)).toEqual(['PAYOUT_OF_ANOTHER_AMOUNT']);
  await expect(release(scene, paymentIntentId)).rejects.toThrow('close it: --paid');
  const { settings: environment } = scene;
  await runCommand(['close', paymentIntentId, '--paid'], { environment, print: () => undefined });
  expect(scene.instance.relayer.journal.get(paymentIntentId)?.state).toBe('closed');
  await scene.instance.stop();
});

const approveAll = (spender: Address): Hex =>
  `0x095ea7b3${spender.slice(2).toLowerCase().padStart(64, '0')}${'f'.repeat(64)}`;

// Shows PAY-11.
test('two frontends with the same ids pay through one contract, each its own', async () => {
  const [key, other] = [await rig.fundKey(), await rig.fundKey()];
  const payouts = await rig.deployPayouts([key.address]);
  await rig.setPayer(payouts, other.address, 'another frontend');
  const scenes = await Promise.all(
    [key, other].map((one) => startScene(rig, { key: one, overrides: { PAYOUTS_ADDRESS: payouts } })),
  );
  for (const { frontend } of scenes)
    frontend.store.add({
      paymentIntentId: 'pi_alike',
      walletAddress: '0x00000000000000000000000000000000000000b0',
      stablecoinAmount: `${AMOUNT}`,
    });
  await Promise.all(scenes.map((scene) => scene.waitForAll()));
  const paid = await rig.client.getContractEvents({
    address: payouts,
    abi: payoutsAbi,
    eventName: 'Paid',
    fromBlock: 0n,
  });
  expect(paid.map(({ args }) => args.amount)).toEqual([OWED, OWED]);
  await Promise.all(scenes.map(({ instance }) => instance.stop()));
});

// Shows PAY-16.
test('a lost disk, and a SEARCH_FROM_BLOCK above the first payout: the start is refused, and the right block named', async () => {
  const key = await rig.fundKey();
  const first = await startScene(rig, { key });
  const { paymentIntentId, walletAddress } = first.add(AMOUNT);
  await first.waitForAll();
  await first.instance.stop();
  const made = await rig.client.getTransactionCount({ address: key.address });
  const { blockNumber } = await rig.client.getTransactionReceipt({ hash: first.txHashOf(paymentIntentId) as Hex });
  const head = await rig.client.getBlockNumber({ cacheTime: 0 });
  const frontend = await rig.startFrontend();
  frontend.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${AMOUNT}` });
  const startFrom = (block: bigint, folder: string) =>
    startScene(rig, {
      key,
      frontend,
      overrides: { DATA_DIR: `${rig.dir}/lost-${folder}`, SEARCH_FROM_BLOCK: `${block}` },
    });
  let right = '';
  for (const block of [blockNumber, blockNumber + 1n, head]) {
    const refusal = await startFrom(block, `${block}`).then(
      () => '',
      (error: unknown) => `${error}`,
    );
    expect(refusal).toMatch(/SEARCH_FROM_BLOCK: .* transactions before block/);
    [, right = ''] = /Set it to (\d+) or less/.exec(refusal) ?? [];
  }
  await expect(startFrom(head + 1000n, 'beyond')).rejects.toThrow('SEARCH_FROM_BLOCK: the node does not say');
  const count = (blockNumber: bigint) => rig.client.getTransactionCount({ address: key.address, blockNumber });
  expect([await count(BigInt(right) - 1n), (await count(BigInt(right))) > 0, made > 1]).toEqual([0, true, true]);
  const again = await startFrom(BigInt(right), 'right');
  await again.waitForAll();
  expect(await countTransfers(walletAddress)).toBe(1);
  await again.instance.stop();
});

test('the story of a payment is reported by its intent, wallet or transaction, as every journal has it', async () => {
  const [one, two] = [await rig.fundKey(), await rig.fundKey()];
  const payouts = await rig.deployPayouts([one.address, two.address]);
  const frontend = await rig.startFrontend();
  const line = await startLine(() => frontend.url);
  line.refuse('/api/relayer/complete');
  const named = (other: RigKey) => ({ PAYOUTS_ADDRESS: payouts, RELAYER_ADDRESSES: other.address });
  const first = await startScene(rig, { key: one, frontend, overrides: { ...named(two), FRONTEND_URL: line.url } });
  const { paymentIntentId, walletAddress } = first.add(AMOUNT);
  await first.waitForState(paymentIntentId, 'transferred');
  await first.instance.stop();
  const second = await startScene(rig, { key: two, frontend, overrides: named(one) });
  await second.waitForAll();
  await second.instance.stop();
  await line.close();
  const txHash = second.txHashOf(paymentIntentId) ?? '';
  for (const query of [paymentIntentId, walletAddress.toLowerCase(), txHash]) {
    const printed: string[] = [];
    const environment = { ...second.settings, EXPLORER_URL: 'https://explorer.example' };
    const words = ['show', query, '--journals', first.settings.DATA_DIR ?? ''];
    expect(await runCommand(words, { environment, print: (text) => printed.push(text) })).toBe(0);
    const text = printed.join('\n');
    expect(text).toContain(`Journal of ${one.address}`);
    expect(text).toContain(`Journal of ${two.address}`);
    expect(text).toContain('stablecoins: 5.00');
    expect(text).toMatch(new RegExp(`paid: https://explorer.example/tx/${txHash} by ${one.address}`, 'i'));
    expect(text).toMatch(/payout +done +\S+ +5,000\.00 +\S+ ETH +https:/);
  }
});
