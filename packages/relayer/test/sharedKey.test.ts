import { cp, rm } from 'node:fs/promises';
import { isLong } from '@prism-gateway/testing/test-size';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, LONG, post, readHealth, waitFor } from './rig.ts';

let world: World;
const open = new AsyncDisposableStack();
beforeAll(async () => {
  world = open.use(await startWorld({ users: 5, relayers: 3 }));
});
afterAll(() => open.disposeAsync());

const addressOf = (relayer: number) => privateKeyToAccount(world.relayerKeys[relayer]!).address;
const countPending = (relayer: number) =>
  connect(world).getTransactionCount({ address: addressOf(relayer), blockTag: 'pending' });
const folder = (name: string) => `${world.dir}/${name}`;

/** Requests are for those alone that call the chain as one of the relayers does. */
async function start(relayer: number, name: string): Promise<Program> {
  const env = { ...world.relayerEnv(relayer), CHAIN_NAME: `chain-of-${relayer}`, DATA_DIR: folder(name) };
  const process = await startProgram('relayer', { env });
  open.defer(() => process.kill());
  return process;
}

const postFor = (relayer: number, user: number) => post(world, { user, chainName: `chain-of-${relayer}` });

// Shows RELAY-24.
test('a relayer that has lost its folder sends nothing while its transactions wait for a block, and nothing again', async () => {
  const chain = connect(world);
  await chain.setAutomine(false);
  const first = await start(0, 'lost');
  const requestId = await postFor(0, 0);
  await expect.poll(() => countPending(0), LONG).toBe(1);
  await first.kill();
  await rm(folder('lost'), { recursive: true });
  const second = await start(0, 'lost');
  await expect.poll(() => readHealth(second), LONG).toMatch(/wait for a block that its journal does not know/);
  await chain.mine({ blocks: 1 });
  await chain.setAutomine(true);
  expect(await waitFor(world, requestId)).toMatchObject({ status: 'success' });
  await expect.poll(() => readHealth(second), LONG).toBe('ok\n');
  expect([await countPending(0), await second.readMetric('prism_relayer_transactions_total')]).toEqual([1, 0]);
});

// Shows RELAY-24.
test.runIf(isLong)(
  'two processes of one key in two folders send nothing twice, and each tells of the other',
  async () => {
    const chain = connect(world);
    const one = await start(1, 'one');
    const other = await start(1, 'other');
    const sent: string[] = [];
    const reported =
      /transactions of its key that its journal does not know .*: 0x\w{40} has one with account nonce \d+/;
    await chain.setAutomine(false);
    sent.push(await postFor(1, 1));
    await expect.poll(() => countPending(1), LONG).toBe(1);
    // Whoever has not sent it.
    const reporting = async () => (await Promise.all([one, other].map(readHealth))).filter((text) => text !== 'ok\n');
    await expect.poll(reporting, LONG).toMatchObject([expect.stringMatching(/wait for a block/)]);
    await chain.mine({ blocks: 1 });
    await chain.setAutomine(true);
    await expect.poll(reporting, LONG).toMatchObject([expect.stringMatching(reported)]);
    expect(await waitFor(world, sent[0]!)).toMatchObject({ status: 'success' });
    expect(await countPending(1)).toBe(1);
    const counts = [one, other].map((each) => each.readMetric('prism_relayer_foreign_transactions_total'));
    expect((await Promise.all(counts)).toSorted()).toEqual([0, 1]);
    const status = await Promise.all([one, other].map(async ({ url }) => await (await fetch(`${url}/status`)).json()));
    expect(JSON.stringify(status)).toMatch(/"foreignTransactions":\{"total":1,"last":\{"nonce":0/);
  },
);

// Shows RELAY-24.
test.runIf(isLong)('a relayer with a journal from a backup tells of what that does not know, and serves', async () => {
  const first = await start(2, 'restored');
  expect(await waitFor(world, await postFor(2, 2))).toMatchObject({ status: 'success' });
  expect(await first.stop()).toBe(0);
  await cp(folder('restored'), folder('backup'), { recursive: true });
  const second = await start(2, 'restored');
  expect(await waitFor(world, await postFor(2, 3))).toMatchObject({ status: 'success' });
  expect(await second.stop()).toBe(0);
  await rm(folder('restored'), { recursive: true });
  await cp(folder('backup'), folder('restored'), { recursive: true });
  const third = await start(2, 'restored');
  await expect
    .poll(() => readHealth(third), LONG)
    .toMatch(/has one with account nonce 1; .*after a restore, this ends/);
  expect(await waitFor(world, await postFor(2, 4))).toMatchObject({ status: 'success' });
  expect([await countPending(2), await third.readMetric('prism_relayer_transactions_total')]).toEqual([3, 1]);
});
