import { createPermit, createPermitTypedData, deriveCloudId } from '@prism-gateway/protocol/typed-data';
import { type Address, type Hex, parseSignature } from 'viem';
import { describe, expect, it } from 'vitest';
import { cloudAbi, creditTokenAbi } from '../src/index.ts';
import { type ChainRig, CREDIT, createUser, DEFAULT_FEE, FUNDS } from './chainRig.ts';
import { useChain } from './useChain.ts';

const alice = createUser('alice');
const cloudId = deriveCloudId({ signer: alice.address, salt: '0x01' });

let rig: ChainRig;

useChain(
  async (started) => {
    rig = started;
    await rig.giveCredits(alice.address, FUNDS);
    await rig.giveCredits(rig.official, FUNDS);
  },
  { initialCredits: 2n ** 100n },
);

/** Alice's permit for the Forwarder. */
async function signPermit(change: { value?: bigint; spender?: Address; deadline?: bigint } = {}) {
  const { chainId, creditToken, forwarder } = rig.deployment;
  const [name, nonce] = await Promise.all([
    rig.client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'name' }),
    rig.client.readContract({
      address: creditToken,
      abi: creditTokenAbi,
      functionName: 'nonces',
      args: [alice.address],
    }),
  ]);
  const { value = FUNDS, spender = forwarder, deadline = (await rig.now()) + 600n } = change;
  const source = {
    token: { address: creditToken, name },
    chainId,
    owner: alice.address,
    spender,
    value,
    nonce,
    deadline,
  };
  const signature = await alice.signTypedData!(createPermitTypedData(source));
  return { permit: createPermit({ deadline, signature }), signature, deadline };
}

const create = (params: { fundAmount: string; relayerFundAmount?: string; permit?: object }, from?: Address) =>
  // A permit, if there is one, is a permit.
  rig.act({ action: 'CREATE_PRISM_FOR', signer: alice, params: { salt: '0x01', ...params } as never }, from);

/** Somebody else puts the permit on the chain. */
async function usePermitFirst({ signature, deadline }: Awaited<ReturnType<typeof signPermit>>) {
  const { r, s, v } = parseSignature(signature as Hex);
  const { error } = await rig.call({
    from: rig.outsider,
    to: rig.deployment.creditToken,
    abi: creditTokenAbi,
    functionName: 'permit',
    args: [alice.address, rig.deployment.forwarder, FUNDS, deadline, Number(v), r, s],
  });
  expect(error).toBeUndefined();
}

describe('a funded creation', () => {
  // Shows CHAIN-15.
  it('takes the credits by permit, in one transaction, from a signer without ether', async () => {
    expect(await rig.client.getBalance({ address: alice.address })).toBe(0n);
    const { permit } = await signPermit();
    const { error, events } = await create({ fundAmount: String(FUNDS), permit });
    expect(error).toBeUndefined();
    expect(events).toHaveLength(1);
    expect(await rig.readPrism(cloudId)).toMatchObject({ owner: alice.address, balance: FUNDS - DEFAULT_FEE });
    expect(await rig.readCredits(alice.address)).toBe(0n);
    expect(await rig.readBalance(rig.deployment.cloud)).toBe(FUNDS);
  });

  it('succeeds although a third party has used the permit first', async () => {
    const signed = await signPermit();
    await usePermitFirst(signed);
    expect((await create({ fundAmount: String(FUNDS), permit: signed.permit })).error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(FUNDS - DEFAULT_FEE);
  });

  it.each([
    ['for another spender', { spender: createUser('mallory').address }],
    ['for less', { value: FUNDS - 1n }],
    ['past its deadline', { deadline: 1n }],
  ])('fails with a permit %s', async (_, change) => {
    const { permit } = await signPermit(change);
    const { error } = await create({ fundAmount: String(FUNDS), permit });
    expect(error).toBe(`ERC20InsufficientAllowance(${rig.deployment.forwarder}, 0, ${FUNDS})`);
  });

  it('pulls no more than the request says, whatever the allowance', async () => {
    await usePermitFirst(await signPermit());
    expect((await create({ fundAmount: String(CREDIT) })).error).toBeUndefined();
    expect(await rig.readCredits(alice.address)).toBe(FUNDS - CREDIT);
  });
});

describe('a sponsored creation', () => {
  const readSponsor = () =>
    rig.client.readContract({
      address: rig.deployment.cloud,
      abi: cloudAbi,
      functionName: 'sponsorOf',
      args: [cloudId],
    });

  // Shows CHAIN-16.
  it('adds credits of the relayer that submits', async () => {
    await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
    const { permit } = await signPermit({ value: CREDIT });
    const params = { fundAmount: String(CREDIT), relayerFundAmount: String(2n * CREDIT), permit };
    expect((await create(params)).error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(3n * CREDIT - DEFAULT_FEE);
    expect(await rig.readCredits(rig.official)).toBe(FUNDS - 2n * CREDIT + DEFAULT_FEE);
  });

  // Shows CHAIN-18.
  it.each([
    ['all of it, where the signer’s own credits paid the fees', 3n * DEFAULT_FEE, 2n * CREDIT, 2n * CREDIT],
    ['what the fees have left of it', 0n, 2n * CREDIT, 2n * CREDIT - 2n * DEFAULT_FEE],
    ['nothing, where the fees have taken all', 0n, 2n * DEFAULT_FEE, 0n],
  ])('gives the sponsor back, when the prism is deleted, %s', async (_, own, sponsored, returned) => {
    await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
    const { permit } = await signPermit({ value: own });
    const funds = { fundAmount: String(own), relayerFundAmount: String(sponsored) };
    expect((await create({ ...funds, ...(own > 0n && { permit }) })).error).toBeUndefined();
    const before = await rig.readEarnings(rig.official);
    const ownBefore = await rig.readBalance(alice.address);
    const ended = await rig.act({ action: 'DELETE_PRISM_FOR', signer: alice, params: { cloudId } });
    expect(ended.error).toBeUndefined();
    expect((await rig.readEarnings(rig.official)).own - before.own - DEFAULT_FEE).toBe(returned);
    expect((await rig.readBalance(alice.address)) - ownBefore).toBe(own === 0n ? 0n : own - 2n * DEFAULT_FEE);
  });

  // Shows CHAIN-18.
  it('gives the sponsor nothing of what others put in after its own credits were spent', async () => {
    const [sponsored, added] = [2n * DEFAULT_FEE, 7n * DEFAULT_FEE];
    await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
    expect((await create({ fundAmount: '0', relayerFundAmount: String(sponsored) })).error).toBeUndefined();
    // The creation's fee and this one: nothing is left of what the sponsor gave.
    const offer = { cloudId, newOwner: rig.outsider };
    expect((await rig.act({ action: 'TRANSFER_PRISM_FOR', signer: alice, params: offer })).error).toBeUndefined();
    expect((await rig.readPrism(cloudId)).balance).toBe(0n);
    expect(await readSponsor()).toEqual([rig.official, sponsored]);
    await rig.approve(rig.deployer, rig.deployment.cloud, added);
    const fund = { abi: cloudAbi, functionName: 'fundPrism', args: [cloudId, added] };
    expect((await rig.call({ from: rig.deployer, to: rig.deployment.cloud, ...fund })).error).toBeUndefined();
    expect(await readSponsor()).toEqual([rig.official, 0n]);
    const [earned, held] = [await rig.readEarnings(rig.official), await rig.readBalance(alice.address)];
    const ended = await rig.act({ action: 'DELETE_PRISM_FOR', signer: alice, params: { cloudId } });
    expect(ended.error).toBeUndefined();
    expect((await rig.readEarnings(rig.official)).own - earned.own).toBe(DEFAULT_FEE);
    expect((await rig.readBalance(alice.address)) - held).toBe(added - DEFAULT_FEE);
  });
});
