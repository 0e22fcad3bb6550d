import { deriveCloudId } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { cloudAbi } from '../src/index.ts';
import { DEFAULT_FEE, FUNDS, idOf } from './chainRig.ts';
import { alice, bob, cloudId, executed, PROTOCOL_FEE, rig, usePrism, write } from './rig/usePrism.ts';

const unknown = idOf('no such prism');

usePrism();

describe('CREATE_PRISM_FOR', () => {
  it('makes an empty prism for nothing', async () => {
    const order = {
      action: 'CREATE_PRISM_FOR',
      signer: bob,
      params: { fundAmount: '0', salt: '0x2a', relayerFee: '0' },
    };
    const { error, events } = await rig.act(order as Parameters<typeof rig.act<'CREATE_PRISM_FOR'>>[0]);
    expect(error).toBeUndefined();
    expect(events).toMatchObject([{ ...executed(bob.address, 0n), relayerFee: 0n }]);
    const id = deriveCloudId({ signer: bob.address, salt: '0x2a' });
    expect(await rig.readPrism(id)).toEqual({
      owner: bob.address,
      pendingOwner: zeroAddress,
      balance: 0n,
      deleted: false,
    });
    expect(await rig.readNonce(bob.address)).toBe(1n);
  });
});

describe('CREATE_PRISM_WITH_DATA_FOR', () => {
  // Shows CHAIN-5.
  it('makes a prism with its first entries under one nonce', async () => {
    await rig.giveCredits(rig.official, FUNDS);
    await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
    const { error, events } = await rig.act({
      action: 'CREATE_PRISM_WITH_DATA_FOR',
      signer: bob,
      params: {
        fundAmount: '0',
        relayerFundAmount: String(FUNDS),
        salt: '0x07',
        dataIds: ['0x01', '0x02'],
        payloads: ['0x', '0xabcd'],
      },
    });
    expect(error).toBeUndefined();
    expect(events).toMatchObject([executed(bob.address, 0n)]);
    const id = deriveCloudId({ signer: bob.address, salt: '0x07' });
    const word = (last: string): Hex => `0x${last.padStart(64, '0')}`;
    expect(await rig.readData(id, word('1'))).toBe('0x');
    expect(await rig.readData(id, word('2'))).toBe('0xabcd');
    expect(await rig.readNonce(bob.address)).toBe(1n);
    expect((await rig.readPrism(id)).balance).toBe(FUNDS - PROTOCOL_FEE - DEFAULT_FEE);
  });

  it.each([
    [[], [], 'EmptyBatch()'],
    [['0x01'], [], 'LengthMismatch(1, 0)'],
    [['0x01', '0x01'], ['0x', '0x'], 'DataAlreadyExists'],
  ])('refuses entries %j with payloads %j', async (dataIds, payloads, expected) => {
    await rig.giveCredits(rig.official, FUNDS);
    await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
    const { error } = await rig.act({
      action: 'CREATE_PRISM_WITH_DATA_FOR',
      signer: bob,
      params: { fundAmount: '0', relayerFundAmount: String(FUNDS), salt: '0x07', dataIds, payloads },
    });
    expect(error).toContain(expected);
  });
});

describe('WRITE_DATA_FOR', () => {
  // Shows CHAIN-13.
  it('writes an entry and takes the fees', async () => {
    const { error, events } = await write(idOf('a'), '0x68656c6c6f');
    expect(error).toBeUndefined();
    expect(events).toMatchObject([executed(alice.address, 1n)]);
    expect(await rig.readData(cloudId, idOf('a'))).toBe('0x68656c6c6f');
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - PROTOCOL_FEE - DEFAULT_FEE);
    expect(await rig.readCredits(rig.official)).toBe(DEFAULT_FEE);
    expect(await rig.readCredits(rig.treasury)).toBe(PROTOCOL_FEE);
    expect(await rig.readNonce(alice.address)).toBe(2n);
  });

  it.each([0, 1, 30, 31, 32, 33, 62, 63, 64, 65, 1_000, 24_575])('keeps %i bytes as they are', async (length) => {
    // No byte is zero, so that one lost or put in shows.
    const payload = `0x${Array.from({ length }, (_, index) => ((index % 255) + 1).toString(16).padStart(2, '0')).join('')}`;
    expect((await write(idOf('a'), payload)).error).toBeUndefined();
    expect(await rig.readData(cloudId, idOf('a'))).toBe(payload);
  });

  it('refuses more than code can hold', async () => {
    const { error } = await write(idOf('a'), `0x${'11'.repeat(24_576)}`);
    expect(error).toBe('PayloadTooLarge(24576, 24575)');
  });

  it('refuses what the balance does not cover, to the last unit', async () => {
    const params = { cloudId, dataId: '0x01', payload: '0x' };
    const most = FUNDS - PROTOCOL_FEE;
    const over = await rig.act({
      action: 'WRITE_DATA_FOR',
      signer: alice,
      params: { ...params, relayerFee: String(most + 1n) },
    });
    expect(over.error).toBe(`InsufficientPrismBalance(${cloudId}, ${FUNDS}, ${FUNDS + 1n})`);
    const all = await rig.act({
      action: 'WRITE_DATA_FOR',
      signer: alice,
      params: { ...params, relayerFee: String(most) },
    });
    expect(all.error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(0n);
  });
});

describe('what anyone may ask of the cloud contract', () => {
  const hasData = (id: Hex, dataId: Hex) =>
    rig.client.readContract({
      address: rig.deployment.cloud,
      abi: cloudAbi,
      functionName: 'hasData',
      args: [id, dataId],
    });

  it('tells an empty entry from none', async () => {
    await write(idOf('a'), '0x');
    expect(await rig.readData(cloudId, idOf('a'))).toBe('0x');
    expect(await hasData(cloudId, idOf('a'))).toBe(true);
    expect(await hasData(cloudId, idOf('b'))).toBe(false);
    await expect(rig.readData(cloudId, idOf('b'))).rejects.toThrow('DataNotFound');
  });

  it('knows nothing of a prism that never was, nor of the data of one that is no more', async () => {
    await write(idOf('a'), '0x11');
    await rig.act({ action: 'DELETE_PRISM_FOR', signer: alice, params: { cloudId } });
    expect(await hasData(cloudId, idOf('a'))).toBe(false);
    expect(await hasData(unknown, idOf('a'))).toBe(false);
    await expect(rig.readData(unknown, idOf('a'))).rejects.toThrow('PrismNotFound');
    expect(await rig.readPrism(unknown)).toMatchObject({ owner: zeroAddress, balance: 0n, deleted: false });
  });
});

describe('MODIFY_DATA_FOR', () => {
  const modify = (dataId: string, payload: string) =>
    rig.act({ action: 'MODIFY_DATA_FOR', signer: alice, params: { cloudId, dataId, payload } });

  // Every way from one form of storage to another: one slot, two, code.
  it.each([
    [10, 20],
    [10, 50],
    [10, 500],
    [50, 10],
    [50, 60],
    [50, 500],
    [500, 10],
    [500, 50],
    [500, 600],
    [500, 0],
  ])('replaces %i bytes by %i', async (before, after) => {
    await write(idOf('a'), `0x${'ff'.repeat(before)}`);
    const { error, events } = await modify(idOf('a'), `0x${'ee'.repeat(after)}`);
    expect(error).toBeUndefined();
    expect(events).toMatchObject([executed(alice.address, 2n)]);
    expect(await rig.readData(cloudId, idOf('a'))).toBe(`0x${'ee'.repeat(after)}`);
  });
});

describe('DELETE_DATA_FOR', () => {
  const remove = (dataId: string) => rig.act({ action: 'DELETE_DATA_FOR', signer: alice, params: { cloudId, dataId } });

  it.each([0, 50, 500])('removes an entry of %i bytes, whose id is free again', async (length) => {
    await write(idOf('a'), `0x${'ff'.repeat(length)}`);
    const { error, events } = await remove(idOf('a'));
    expect(error).toBeUndefined();
    expect(events).toMatchObject([executed(alice.address, 2n)]);
    await expect(rig.readData(cloudId, idOf('a'))).rejects.toThrow('DataNotFound');
    // Of what was there before, nothing is left.
    await write(idOf('a'), `0x${'ee'.repeat(40)}`);
    expect(await rig.readData(cloudId, idOf('a'))).toBe(`0x${'ee'.repeat(40)}`);
  });

  // Shows CHAIN-13.
  it('pays the relayer, and no protocol fee', async () => {
    await write(idOf('a'), '0x11');
    await remove(idOf('a'));
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - PROTOCOL_FEE - 2n * DEFAULT_FEE);
  });
});
