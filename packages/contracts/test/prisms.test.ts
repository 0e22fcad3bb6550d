import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { createUser, DEFAULT_FEE, FUNDS, idOf } from './chainRig.ts';
import { alice, bob, cloudId, executed, PROTOCOL_FEE, rig, usePrism, write } from './rig/usePrism.ts';

usePrism();

describe('TRANSFER_PRISM_FOR and ACCEPT_TRANSFER_FOR', () => {
  const offer = (newOwner: string) =>
    rig.act({ action: 'TRANSFER_PRISM_FOR', signer: alice, params: { cloudId, newOwner } });
  const accept = (signer = bob) => rig.act({ action: 'ACCEPT_TRANSFER_FOR', signer, params: { cloudId } });

  it('moves a prism in two steps, its balance and data with it', async () => {
    await write(idOf('a'), '0x11');
    const offered = await offer(bob.address);
    expect(offered.events).toMatchObject([executed(alice.address, 2n)]);
    expect(await rig.readPrism(cloudId)).toMatchObject({ owner: alice.address, pendingOwner: bob.address });
    const accepted = await accept();
    expect(accepted.events).toMatchObject([executed(bob.address, 0n)]);
    const balance = FUNDS - PROTOCOL_FEE - 3n * DEFAULT_FEE;
    expect(await rig.readPrism(cloudId)).toEqual({
      owner: bob.address,
      pendingOwner: zeroAddress,
      balance,
      deleted: false,
    });
    expect(await rig.readData(cloudId, idOf('a'))).toBe('0x11');
    expect((await write(idOf('b'), '0x')).error).toBe(`NotPrismOwner(${cloudId}, ${alice.address})`);
  });

  it('leaves the prism with its owner until it is accepted', async () => {
    await offer(bob.address);
    expect((await write(idOf('a'), '0x')).error).toBeUndefined();
    const { error } = await rig.act({ action: 'DELETE_PRISM_FOR', signer: bob, params: { cloudId } });
    expect(error).toBe(`NotPrismOwner(${cloudId}, ${bob.address})`);
  });

  it('lets only the one accept to whom it was offered last, once', async () => {
    expect((await accept()).error).toBe(`NotPendingOwner(${cloudId}, ${bob.address})`);
    await offer(bob.address);
    const carol = createUser('carol');
    expect((await accept(carol)).error).toBe(`NotPendingOwner(${cloudId}, ${carol.address})`);
    await offer(carol.address);
    expect((await accept()).error).toBe(`NotPendingOwner(${cloudId}, ${bob.address})`);
    expect((await accept(carol)).error).toBeUndefined();
    expect((await accept(carol)).error).toBe(`NotPendingOwner(${cloudId}, ${carol.address})`);
  });

  it('takes an offer back with the zero address', async () => {
    await offer(bob.address);
    await offer(zeroAddress);
    expect((await accept()).error).toBe(`NotPendingOwner(${cloudId}, ${bob.address})`);
  });

  it('refuses the offer of one who is not the owner', async () => {
    const params = { cloudId, newOwner: bob.address };
    const { error } = await rig.act({ action: 'TRANSFER_PRISM_FOR', signer: bob, params });
    expect(error).toBe(`NotPrismOwner(${cloudId}, ${bob.address})`);
  });

  it('has nobody accept a prism that is no more', async () => {
    await offer(bob.address);
    await rig.act({ action: 'DELETE_PRISM_FOR', signer: alice, params: { cloudId } });
    expect((await accept()).error).toBe(`PrismNotFound(${cloudId})`);
  });
});

describe('DELETE_PRISM_FOR', () => {
  const end = (signer = alice) => rig.act({ action: 'DELETE_PRISM_FOR', signer, params: { cloudId } });

  it('gives the owner what is left, and the data are gone', async () => {
    await write(idOf('a'), '0x11');
    const { error, events } = await end();
    expect(error).toBeUndefined();
    expect(events).toMatchObject([executed(alice.address, 2n)]);
    expect(await rig.readCredits(alice.address)).toBe(FUNDS - PROTOCOL_FEE - 2n * DEFAULT_FEE);
    expect(await rig.readPrism(cloudId)).toEqual({
      owner: zeroAddress,
      pendingOwner: zeroAddress,
      balance: 0n,
      deleted: true,
    });
    await expect(rig.readData(cloudId, idOf('a'))).rejects.toThrow('PrismNotFound');
  });

  it('is for ever: nothing can be written, and the salt is spent', async () => {
    await end();
    expect((await write(idOf('a'), '0x')).error).toBe(`PrismNotFound(${cloudId})`);
    const { error } = await rig.act({
      action: 'CREATE_PRISM_FOR',
      signer: alice,
      params: { fundAmount: '0', salt: '0x01', relayerFee: '0' },
    });
    expect(error).toBe(`PrismAlreadyExists(${cloudId})`);
  });

  it('refuses another than the owner', async () => {
    expect((await end(bob)).error).toBe(`NotPrismOwner(${cloudId}, ${bob.address})`);
  });
});
