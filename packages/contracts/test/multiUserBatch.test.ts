import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Address, Hex, LocalAccount } from 'viem';
import { decodeFunctionResult } from 'viem/utils';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { encodeForwarderCall, forwarderAbi } from '../src/index.ts';
import {
  type ChainRig,
  CREDIT,
  createUser,
  DEFAULT_FEE,
  describeError,
  FUNDS,
  idOf,
  startChainRig,
} from './chainRig.ts';
import { hostileWalletAbi } from './generated/hostileWalletAbi.ts';
import { hostileWalletBytecode } from './generated/hostileWalletBytecode.ts';

const PROTOCOL_FEE = CREDIT / 10n;
/** `HostileWallet.Mode`. */
const MODES = { approve: 0, reenter: 1, burnGas: 2, returnBomb: 3, returnShort: 4, revert: 5 } as const;

type Entry = ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>['requests'][number];

const users = ['u0', 'u1', 'u2', 'u3'].map(createUser);
const [alice, bob, carol] = users as [LocalAccount, LocalAccount, LocalAccount];
const prisms = new Map<string, Hex>();

let rig: ChainRig;
let snapshot: Hex;
let hostile: Address;

beforeAll(async () => {
  rig = await startChainRig();
  for (const user of users) prisms.set(user.address, await rig.createPrism(user));
  hostile = await rig.deploy(hostileWalletAbi, hostileWalletBytecode);
});
afterAll(() => rig?.devnet.stop());
beforeEach(async () => {
  snapshot = await rig.client.snapshot();
});
afterEach(() => rig.client.revert({ id: snapshot }));

const prismOf = (user: LocalAccount): Hex => prisms.get(user.address)!;

/** A write of a user's into its own prism, signed. */
async function entryOf(
  signer: LocalAccount,
  change: {
    dataId?: string;
    payload?: string;
    nonce?: bigint;
    relayerFee?: string;
    timestamp?: string;
    cloudId?: Hex;
  } = {},
): Promise<Entry> {
  const { nonce, cloudId = prismOf(signer), dataId = idOf('a'), payload = '0x11', ...rest } = change;
  const params = { cloudId, dataId, payload, ...rest };
  const signed = await rig.sign({
    action: 'WRITE_DATA_FOR',
    signer,
    params,
    ...(nonce === undefined ? {} : { nonce }),
  });
  return signed.params;
}

const batchOf = (requests: readonly Entry[]) => ({
  action: 'BATCH_MULTI_USER_WRITE_DATA' as const,
  params: createMultiUserBatchParams({ signer: rig.official, timestamp: '0', requests }),
});

const submitBatch = (requests: readonly Entry[], from?: Address, gas?: bigint) =>
  rig.submit(batchOf(requests), from, gas);

/** Says of each event whether it went well, and why not. */
const summarise = (events: readonly { success: boolean; reason: Hex }[]) =>
  events.map(({ success, reason }) => (success ? 'written' : describeError(reason)));

/** Makes the hostile contract a signer with a prism of its own, and says how it behaves from then on. */
async function hostileEntry(mode: number, target: Address = hostile, data: Hex = '0x'): Promise<Entry> {
  const behave = (next: number) =>
    rig.call({
      from: rig.deployer,
      to: hostile,
      abi: hostileWalletAbi,
      functionName: 'behave',
      args: [next, target, data],
    });
  await behave(MODES.approve);
  const params = { cloudId: prismOf(alice), dataId: idOf('hostile'), payload: '0x66' };
  const { params: entry } = await rig.sign({ action: 'WRITE_DATA_FOR', signer: alice, wallet: hostile, params });
  await behave(mode);
  return entry;
}

it('writes for many users, each under its own nonce, and moves no credits', async () => {
  const { error, events, receipt } = await submitBatch(await Promise.all(users.map((user) => entryOf(user))));
  expect(error).toBeUndefined();
  expect(events).toMatchObject(
    users.map(({ address }) => ({
      signer: address,
      nonce: 1n,
      success: true,
      relayer: rig.official,
      relayerFee: DEFAULT_FEE,
      reason: '0x',
    })),
  );
  for (const user of users) {
    expect(await rig.readData(prismOf(user), idOf('a'))).toBe('0x11');
    expect((await rig.readPrism(prismOf(user))).balance).toBe(FUNDS - PROTOCOL_FEE - DEFAULT_FEE);
    expect(await rig.readNonce(user.address)).toBe(2n);
  }
  expect(await rig.readCredits(rig.official)).toBe(4n * DEFAULT_FEE);
  expect(await rig.readCredits(rig.treasury)).toBe(4n * PROTOCOL_FEE);
  const transfers = receipt.logs.filter(
    ({ address }) => address.toLowerCase() === rig.deployment.creditToken.toLowerCase(),
  );
  expect(transfers).toHaveLength(0);
});

// Shows CHAIN-14.
it('rounds the split once a batch, downwards', async () => {
  await rig.setNextTime((await rig.now()) + 61n);
  const timestamp = String(await rig.now());
  // 70% of 3 × 1: each by itself would be nothing.
  const entries = await Promise.all([alice, bob, carol].map((user) => entryOf(user, { relayerFee: '1', timestamp })));
  expect(summarise((await submitBatch(entries, rig.outsider)).events)).toEqual(['written', 'written', 'written']);
  expect(await rig.readCredits(rig.outsider)).toBe(2n);
  expect(await rig.readCredits(rig.treasury)).toBe(3n * PROTOCOL_FEE + 1n);
});

it('runs the later one when the earlier of a signer is bad, only if it is signed for the nonce that stands', async () => {
  const bad = await entryOf(alice, { nonce: 1n, cloudId: idOf('no such prism') });
  const [next, again] = [await entryOf(alice, { nonce: 2n }), await entryOf(alice, { nonce: 1n })];
  const { events } = await submitBatch([bad, next, again]);
  expect(summarise(events)).toEqual([
    `PrismNotFound(${idOf('no such prism')})`,
    `InvalidSignature(${alice.address}, 1)`,
    'written',
  ]);
  expect(events.map(({ nonce }) => nonce)).toEqual([1n, 1n, 1n]);
  expect(await rig.readNonce(alice.address)).toBe(2n);
});

// Shows CHAIN-11.
it('does not let a bad entry undo the others, take its fee or its nonce', async () => {
  const good = [await entryOf(alice), await entryOf(carol)] as const;
  const tooOld = String((await rig.now()) - 86_400n - 100n);
  const early = String((await rig.now()) + 1_000n);
  const most = 2n ** 256n - 1n;
  const bad: readonly (readonly [Entry, string])[] = [
    [{ ...(await entryOf(bob)), payload: '0x12' }, `InvalidSignature(${bob.address}, 1)`],
    [await entryOf(bob, { nonce: 0n }), `InvalidSignature(${bob.address}, 1)`],
    [await entryOf(bob, { nonce: 2n }), `InvalidSignature(${bob.address}, 1)`],
    [
      await entryOf(bob, { relayerFee: String(FUNDS) }),
      `InsufficientPrismBalance(${prismOf(bob)}, ${FUNDS}, ${FUNDS + PROTOCOL_FEE})`,
    ],
    [await entryOf(bob, { relayerFee: String(most) }), `InsufficientPrismBalance(${prismOf(bob)}, ${FUNDS}, ${most})`],
    [await entryOf(bob, { cloudId: prismOf(alice) }), `NotPrismOwner(${prismOf(alice)}, ${bob.address})`],
    [await entryOf(bob, { payload: `0x${'00'.repeat(24_576)}` }), 'PayloadTooLarge(24576, 24575)'],
    [await entryOf(bob, { timestamp: tooOld }), `RequestExpired(${BigInt(tooOld) + 86_400n})`],
    [await entryOf(bob, { timestamp: early }), `RequestNotYetOpen(${early})`],
    [await entryOf(bob, { timestamp: String(most) }), `RequestNotYetOpen(${most})`],
    [{ ...(await entryOf(bob)), v: 0 }, `InvalidSignature(${bob.address}, 1)`],
  ];
  const { error, events } = await submitBatch([good[0], ...bad.map(([entry]) => entry), good[1]]);
  expect(error).toBeUndefined();
  expect(summarise(events)).toEqual(['written', ...bad.map(([, reason]) => reason), 'written']);
  for (const event of events.slice(1, -1)) {
    expect(event).toMatchObject({ signer: bob.address, nonce: 1n, success: false, relayerFee: 0n });
  }
  expect((await rig.readPrism(prismOf(bob))).balance).toBe(FUNDS);
  expect(await rig.readNonce(bob.address)).toBe(1n);
  expect(await rig.readCredits(rig.official)).toBe(2n * DEFAULT_FEE);
});

it('answers a simulation with what it would refuse', async () => {
  const request = batchOf([await entryOf(alice), await entryOf(bob, { nonce: 7n })]);
  const { data } = await rig.client.call({
    account: rig.official,
    to: rig.deployment.forwarder,
    ...encodeForwarderCall(request),
  });
  const refused = decodeFunctionResult({ abi: forwarderAbi, functionName: 'batchMultiUserWriteData', data: data! });
  expect(refused.map(({ index, reason }) => [index, describeError(reason)])).toEqual([
    [1n, `InvalidSignature(${bob.address}, 1)`],
  ]);
});

it('takes no fee and no nonce where a core that is gone, or is another, does not say that it has written', async () => {
  // Returns nothing, zero, or two, whatever it is asked.
  for (const bytecode of ['0x', '0x60205ff3', '0x60025f5260205ff3'] as const) {
    await rig.client.setCode({ address: rig.deployment.core, bytecode });
    expect((await submitBatch([await entryOf(alice)])).error).toBe('InsufficientGas()');
    expect(await rig.readNonce(alice.address)).toBe(1n);
    expect((await rig.readPrism(prismOf(alice))).balance).toBe(FUNDS);
  }
});

it('takes no empty batch', async () => {
  expect((await submitBatch([])).error).toBe('EmptyBatch()');
});

it('keeps others out of the priority window entry by entry', async () => {
  const timestamp = await rig.now();
  const old = await entryOf(alice, { timestamp: String(timestamp - 61n) });
  const young = await entryOf(bob, { timestamp: String(timestamp) });
  const { events } = await submitBatch([old, young], rig.outsider);
  expect(summarise(events)).toEqual(['written', `RequestNotYetOpen(${timestamp + 60n})`]);
});

// Shows CHAIN-20.
it('lets a contract wallet burn only so much gas', async () => {
  const gasWith = async (mode: number) => {
    const inner = await rig.client.snapshot();
    const entries = [await entryOf(alice), await hostileEntry(mode), await entryOf(bob)];
    const { events, receipt } = await submitBatch(entries);
    expect(summarise(events)).toEqual(['written', `InvalidSignature(${hostile}, 0)`, 'written']);
    await rig.client.revert({ id: inner });
    return receipt.gasUsed;
  };
  const extra = (await gasWith(MODES.burnGas)) - (await gasWith(MODES.revert));
  expect(extra).toBeGreaterThan(250_000n);
  expect(extra).toBeLessThanOrEqual(300_000n);
});

it.each(['returnBomb', 'returnShort', 'revert', 'reenter'] as const)(
  'stands a contract wallet that does %s',
  async (mode) => {
    const inner = await rig.sign({
      action: 'WRITE_DATA_FOR',
      signer: carol,
      params: { cloudId: prismOf(carol), dataId: idOf('inner'), payload: '0x' },
    });
    const entry = await hostileEntry(MODES[mode], rig.deployment.forwarder, encodeForwarderCall(inner).data);
    const { events, receipt } = await submitBatch([await entryOf(alice), entry, await entryOf(bob)]);
    // The bomb's first word is the right one: it is a signer without a prism, and nothing worse.
    const reason =
      mode === 'returnBomb' ? `NotPrismOwner(${prismOf(alice)}, ${hostile})` : `InvalidSignature(${hostile}, 0)`;
    expect(summarise(events)).toEqual(['written', reason, 'written']);
    expect(receipt.gasUsed).toBeLessThan(500_000n);
    expect(await rig.readNonce(carol.address)).toBe(1n);
  },
);

it.each([
  ['small', 200],
  // After such a one runs out of gas, the 1/64 that is left would do for the rest of the batch (EIP-150).
  ['large', 24_000],
])('is undone as a whole by too little gas for a %s entry, which is not blamed for it', async (_, bytes) => {
  const entries = [await entryOf(alice), await entryOf(bob, { payload: `0x${'77'.repeat(bytes)}` })];
  const enough = (await submitBatch(entries)).receipt.gasUsed;
  await rig.client.revert({ id: snapshot });
  snapshot = await rig.client.snapshot();
  for (let percent = 40n; percent < 100n; percent += 3n) {
    const { receipt, events } = await submitBatch(entries, rig.official, (enough * percent) / 100n);
    expect(receipt.status).toBe('reverted');
    expect(events).toEqual([]);
  }
  expect(await rig.readNonce(alice.address)).toBe(1n);
});

it('has an estimate at which all that can be written is written', async () => {
  const entries = await Promise.all(users.map((user) => entryOf(user, { payload: `0x${'77'.repeat(200)}` })));
  const { data } = encodeForwarderCall(batchOf(entries));
  const gas = await rig.client.estimateGas({ account: rig.official, to: rig.deployment.forwarder, data });
  expect(summarise((await submitBatch(entries, rig.official, gas)).events)).toEqual(users.map(() => 'written'));
});

it('does not let too little gas pass for a bad signature of a contract wallet', async () => {
  const entry = await hostileEntry(MODES.approve);
  const { error, events } = await submitBatch([entry], rig.official, 130_000n);
  expect(error).toBe('InsufficientGas()');
  expect(events).toEqual([]);
});
