import { describe, expect, it } from 'vitest';
import { DEFAULT_FEE, FUNDS, idOf } from './chainRig.ts';
import { alice, bob, cloudId, executed, PROTOCOL_FEE, rig, usePrism, write } from './rig/usePrism.ts';

usePrism();

describe('batches of one prism', () => {
  const dataIds = [idOf('a'), idOf('b'), idOf('c')];
  const payloads = ['0x01', `0x${'02'.repeat(40)}`, `0x${'03'.repeat(100)}`];
  const batchWrite = (ids: string[] = dataIds, contents: string[] = payloads) =>
    rig.act({ action: 'BATCH_WRITE_DATA_FOR', signer: alice, params: { cloudId, dataIds: ids, payloads: contents } });

  it('writes, replaces and removes many entries, each under one nonce and one protocol fee', async () => {
    expect((await batchWrite()).events).toMatchObject([executed(alice.address, 1n)]);
    expect(await Promise.all(dataIds.map((id) => rig.readData(cloudId, id)))).toEqual(payloads);
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - PROTOCOL_FEE - DEFAULT_FEE);

    const reversed = payloads.toReversed();
    const modified = await rig.act({
      action: 'BATCH_MODIFY_DATA_FOR',
      signer: alice,
      params: { cloudId, dataIds, payloads: reversed },
    });
    expect(modified.events).toMatchObject([executed(alice.address, 2n)]);
    expect(await Promise.all(dataIds.map((id) => rig.readData(cloudId, id)))).toEqual(reversed);
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - 2n * (PROTOCOL_FEE + DEFAULT_FEE));

    const removed = await rig.act({ action: 'BATCH_DELETE_DATA_FOR', signer: alice, params: { cloudId, dataIds } });
    expect(removed.events).toMatchObject([executed(alice.address, 3n)]);
    for (const id of dataIds) await expect(rig.readData(cloudId, id)).rejects.toThrow('DataNotFound');
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - 2n * PROTOCOL_FEE - 3n * DEFAULT_FEE);
  });

  it('are all or none', async () => {
    await write(idOf('c'), '0xcc');
    expect((await batchWrite()).error).toBe(`DataAlreadyExists(${cloudId}, ${idOf('c')})`);
    await expect(rig.readData(cloudId, idOf('a'))).rejects.toThrow('DataNotFound');
    const modified = await rig.act({
      action: 'BATCH_MODIFY_DATA_FOR',
      signer: alice,
      params: { cloudId, dataIds: [idOf('c'), idOf('a')], payloads: ['0x', '0x'] },
    });
    expect(modified.error).toBe(`DataNotFound(${cloudId}, ${idOf('a')})`);
    expect(await rig.readData(cloudId, idOf('c'))).toBe('0xcc');
    const params = { cloudId, dataIds: [idOf('c'), idOf('c')] };
    const removed = await rig.act({ action: 'BATCH_DELETE_DATA_FOR', signer: alice, params });
    expect(removed.error).toBe(`DataNotFound(${cloudId}, ${idOf('c')})`);
    expect(await rig.readData(cloudId, idOf('c'))).toBe('0xcc');
  });

  it('refuse no entries, and not as many payloads as ids', async () => {
    expect((await batchWrite([], [])).error).toBe('EmptyBatch()');
    expect((await batchWrite(dataIds, ['0x'])).error).toBe('LengthMismatch(3, 1)');
    const modified = await rig.act({
      action: 'BATCH_MODIFY_DATA_FOR',
      signer: alice,
      params: { cloudId, dataIds, payloads: [] },
    });
    expect(modified.error).toBe('LengthMismatch(3, 0)');
    const removed = await rig.act({ action: 'BATCH_DELETE_DATA_FOR', signer: alice, params: { cloudId, dataIds: [] } });
    expect(removed.error).toBe('EmptyBatch()');
  });

  it('refuse another than the owner', async () => {
    const orders = [
      { action: 'BATCH_WRITE_DATA_FOR', signer: bob, params: { cloudId, dataIds, payloads } },
      { action: 'BATCH_MODIFY_DATA_FOR', signer: bob, params: { cloudId, dataIds, payloads } },
      { action: 'BATCH_DELETE_DATA_FOR', signer: bob, params: { cloudId, dataIds } },
    ] as const;
    for (const order of orders) {
      const { error } = await rig.act(order as unknown as Parameters<typeof rig.act<'BATCH_WRITE_DATA_FOR'>>[0]);
      expect(error).toBe(`NotPrismOwner(${cloudId}, ${bob.address})`);
    }
  });
});
