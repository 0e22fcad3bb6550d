import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Address, Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { cloudAbi, coreAbi, forwarderAbi } from '../src/index.ts';
import { type ChainRig, CREDIT, createUser, DEFAULT_FEE, FUNDS, idOf } from './chainRig.ts';
import { useChain } from './useChain.ts';

const PROTOCOL_FEE = CREDIT / 10n;
const alice = createUser('alice');

let rig: ChainRig;
let cloudId: Hex;

useChain(async (started) => {
  rig = started;
  cloudId = await rig.createPrism(alice);
});

const sign = (change: { relayerFee?: string; timestamp?: string } = {}) =>
  rig.sign({
    action: 'WRITE_DATA_FOR',
    signer: alice,
    params: { cloudId, dataId: idOf('a'), payload: '0x', ...change },
  });

const configure = (functionName: string, args: readonly unknown[], from = rig.deployer) =>
  rig.call({ from, to: rig.deployment.forwarder, abi: forwarderAbi, functionName, args });

describe('the split', () => {
  /** Writes with a fee through a relayer that is not official, and says what the two parties got. */
  async function split(relayerFee: bigint, shareBps = 7_000) {
    await configure('setPolicy', [0, 86_400, shareBps]);
    const { error } = await rig.submit(await sign({ relayerFee: String(relayerFee) }), rig.outsider);
    expect(error).toBeUndefined();
    return [await rig.readCredits(rig.outsider), await rig.readCredits(rig.treasury)];
  }

  it.each([
    [0n, 7_000, 0n],
    [1n, 7_000, 0n],
    [2n, 7_000, 1n],
    [3n, 7_000, 2n],
    [9_999n, 7_000, 6_999n],
    [10_000n, 7_000, 7_000n],
    [DEFAULT_FEE, 7_000, (DEFAULT_FEE * 7n) / 10n],
    [7n, 0, 0n],
    [7n, 10_000, 7n],
    [7n, 3_333, 2n],
  ])(
    'of %s at %i basis points gives the relayer %s, rounded down, and the treasury the rest',
    async (fee, bps, share) => {
      expect(await split(fee, bps)).toEqual([share, PROTOCOL_FEE + fee - share]);
      expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - PROTOCOL_FEE - fee);
      // Written down, and not paid out yet: it all lies in the cloud contract.
      expect(await rig.readBalance(rig.deployment.cloud)).toBe(FUNDS);
    },
  );

  // Shows CHAIN-14.
  it('gives official relayers all of it', async () => {
    await configure('setOfficialRelayer', [rig.outsider, true]);
    expect(await split(DEFAULT_FEE)).toEqual([DEFAULT_FEE, PROTOCOL_FEE]);
  });
});

/** Anyone may ask for it. */
const payOut = (relayer: Address) =>
  rig.call({
    from: rig.deployer,
    to: rig.deployment.cloud,
    abi: cloudAbi,
    functionName: 'payOutEarnings',
    args: [relayer],
  });

// Shows CHAIN-17.
describe('earnings', () => {
  it('are paid out to the relayer and the treasury, once', async () => {
    await rig.submit(await sign());
    expect(await rig.readEarnings(rig.official)).toEqual({ own: DEFAULT_FEE, rest: PROTOCOL_FEE });
    await payOut(rig.official);
    await payOut(rig.official);
    expect(await rig.readBalance(rig.official)).toBe(DEFAULT_FEE);
    expect(await rig.readBalance(rig.treasury)).toBe(PROTOCOL_FEE);
    expect(await rig.readEarnings(rig.official)).toEqual({ own: 0n, rest: 0n });
    expect(await rig.readBalance(rig.deployment.cloud)).toBe(FUNDS - DEFAULT_FEE - PROTOCOL_FEE);
  });
});

describe('a fee beyond all balances', () => {
  it.each([2n ** 96n, 2n ** 255n, 2n ** 256n - 1n])('of %s is refused, and undoes no other entry', async (fee) => {
    await configure('setPolicy', [0, 86_400, 7_000]);
    const single = await rig.submit(await sign({ relayerFee: String(fee) }), rig.outsider);
    expect(single.error).toMatch(/InsufficientPrismBalance|Panic/);
    const entries = [(await sign({ relayerFee: String(fee) })).params, (await sign()).params];
    const params = createMultiUserBatchParams({ signer: rig.outsider, timestamp: '0', requests: entries });
    const { events } = await rig.submit({ action: 'BATCH_MULTI_USER_WRITE_DATA', params }, rig.outsider);
    expect(events.map(({ success }) => success)).toEqual([false, true]);
  });
});

// Shows CHAIN-13.
describe('the protocol fee', () => {
  const MAXIMUM = 10n * PROTOCOL_FEE;
  const DELAY = 172_800n;
  const apply = () => configure('applyProtocolFee', [], rig.outsider);

  it('cannot be raised above the maximum of the deployment, nor take effect at once', async () => {
    expect((await configure('announceProtocolFee', [MAXIMUM + 1n])).error).toBe(
      `FeeTooHigh(${MAXIMUM + 1n}, ${MAXIMUM})`,
    );
    expect((await apply()).error).toBe('FeeNotDue(0)');
    expect((await configure('announceProtocolFee', [MAXIMUM])).error).toBeUndefined();
    expect((await apply()).error).toMatch(/^FeeNotDue/);
    const { error } = await rig.submit(await sign({ relayerFee: '0' }));
    expect(error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - PROTOCOL_FEE);
  });

  it('is another one once its delay has passed and somebody has applied it, once', async () => {
    await configure('announceProtocolFee', [MAXIMUM]);
    await rig.setNextTime((await rig.now()) + DELAY);
    expect((await apply()).error).toBeUndefined();
    expect((await apply()).error).toBe('FeeNotDue(0)');
    await rig.submit(await sign({ relayerFee: '0' }));
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - MAXIMUM);
  });
});

describe('the windows', () => {
  /** Submits at exactly that time after the request's timestamp. */
  async function submitAfter(seconds: bigint, from: Address) {
    const timestamp = (await rig.now()) + 10n;
    const request = await sign({ timestamp: String(timestamp) });
    await rig.setNextTime(timestamp + seconds);
    const { error, receipt } = await rig.submit(request, from);
    const block = await rig.client.getBlock({ blockNumber: receipt.blockNumber });
    expect(block.timestamp).toBe(timestamp + seconds);
    return error?.replace(String(timestamp), 'timestamp').replace(String(timestamp + 60n), 'timestamp + 60');
  }

  // Shows CHAIN-9.
  it.each([-1n, 0n, 59n, 60n, 86_400n, 86_401n])(
    'let an official relayer in %s s after the timestamp, or not',
    async (seconds) => {
      const error = await submitAfter(seconds, rig.official);
      if (seconds < 0n) expect(error).toBe('RequestNotYetOpen(timestamp)');
      else if (seconds > 86_400n) expect(error).toMatch(/^RequestExpired/);
      else expect(error).toBeUndefined();
    },
  );

  // Shows CHAIN-9.
  it.each([-1n, 0n, 59n, 60n, 86_400n, 86_401n])('let another in %s s after the timestamp, or not', async (seconds) => {
    const error = await submitAfter(seconds, rig.outsider);
    if (seconds < 0n) expect(error).toBe('RequestNotYetOpen(timestamp)');
    else if (seconds < 60n) expect(error).toBe('RequestNotYetOpen(timestamp + 60)');
    else if (seconds > 86_400n) expect(error).toMatch(/^RequestExpired/);
    else expect(error).toBeUndefined();
  });
});

describe('who may do what', () => {
  it('leaves the settings to the owner', async () => {
    const { forwarder, cloud } = rig.deployment;
    const orders = [
      { to: forwarder, abi: forwarderAbi, functionName: 'setPolicy', args: [0, 1, 0] },
      { to: forwarder, abi: forwarderAbi, functionName: 'setOfficialRelayer', args: [rig.outsider, true] },
      { to: forwarder, abi: forwarderAbi, functionName: 'announceProtocolFee', args: [0n] },
      { to: cloud, abi: cloudAbi, functionName: 'setTreasury', args: [rig.outsider] },
    ] as const;
    for (const order of orders) {
      const { error } = await rig.call({ from: rig.outsider, ...order });
      expect(error).toBe(`OwnableUnauthorizedAccount(${rig.outsider})`);
    }
  });

  it('takes no policy that cannot be', async () => {
    expect((await configure('setPolicy', [60, 86_400, 10_001])).error).toBe('InvalidPolicy()');
    expect((await configure('setPolicy', [61, 60, 7_000])).error).toBe('InvalidPolicy()');
  });

  it('takes no treasury that is nobody', async () => {
    const args = [`0x${'0'.repeat(40)}`];
    const { error } = await rig.call({
      from: rig.deployer,
      to: rig.deployment.cloud,
      abi: cloudAbi,
      functionName: 'setTreasury',
      args,
    });
    expect(error).toBe('ZeroAddress()');
  });

  it('lets the cloud contract hear nobody but the Forwarder', async () => {
    const forAll = ['payOutEarnings', 'earningsOf'];
    const acts = cloudAbi.filter(
      (item) =>
        item.type === 'function' &&
        !forAll.includes(item.name) &&
        item.inputs.some(({ name }) => name === 'signer' || name === 'relayer'),
    );
    expect(acts).toHaveLength(13);
    for (const item of acts) {
      const args = item.type === 'function' ? item.inputs.map(({ name, type }) => sampleOf(name, type)) : [];
      const functionName = item.type === 'function' ? item.name : '';
      const { error } = await rig.call({
        from: rig.deployer,
        to: rig.deployment.cloud,
        abi: [item],
        functionName,
        args,
      });
      expect(error, functionName).toBe(`OnlyForwarder(${rig.deployer})`);
    }
  });

  it('lets the core hear nobody but the cloud contract', async () => {
    const acts = coreAbi.filter((item) => item.type === 'function' && item.stateMutability === 'nonpayable');
    expect(acts).toHaveLength(6);
    for (const item of acts) {
      const args = item.type === 'function' ? item.inputs.map(({ name, type }) => sampleOf(name, type)) : [];
      const functionName = item.type === 'function' ? item.name : '';
      const { error } = await rig.call({
        from: rig.deployer,
        to: rig.deployment.core,
        abi: [item],
        functionName,
        args,
      });
      expect(error, functionName).toBe(`OnlyCloud(${rig.deployer})`);
    }
  });

  it('lets anyone fund a prism that lives, and no other', async () => {
    const fund = (id: Hex) =>
      rig.call({
        from: rig.deployer,
        to: rig.deployment.cloud,
        abi: cloudAbi,
        functionName: 'fundPrism',
        args: [id, 5n],
      });
    await rig.approve(rig.deployer, rig.deployment.cloud, 5n);
    expect((await fund(cloudId)).error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS + 5n);
    expect((await fund(cloudId)).error).toBe(`ERC20InsufficientAllowance(${rig.deployment.cloud}, 0, 5)`);
    expect((await fund(idOf('none'))).error).toBe(`PrismNotFound(${idOf('none')})`);
  });
});

/** Any value of a type. */
function sampleOf(name: string, type: string): unknown {
  if (type.endsWith('[]')) return [];
  if (type === 'address') return rig.outsider;
  if (name === 'fee') return { relayer: rig.outsider, amount: 0n, share: 0n, protocol: 0n };
  if (name === 'funding') return { own: 0n, sponsored: 0n };
  if (type === 'bytes32') return name === 'cloudId' ? cloudId : idOf('a');
  return type === 'bytes' ? '0x' : 0n;
}
