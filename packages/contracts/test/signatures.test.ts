import { deployContracts } from '@prism-gateway/devnet';
import { testWalletAbi, testWalletBytecode } from '@prism-gateway/devnet/test-wallet';
import type { ActionParams } from '@prism-gateway/protocol';
import {
  createForwarderDomain,
  deriveCloudId,
  hashForwarderDomain,
  type SignedAction,
} from '@prism-gateway/protocol/typed-data';
import type { Address, Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, numberToHex } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import { creditTokenAbi, encodeForwarderCall, forwarderAbi } from '../src/index.ts';
import { type ChainRig, CREDIT, createUser, FUNDS, idOf } from './chainRig.ts';
import { hostileWalletAbi } from './generated/hostileWalletAbi.ts';
import { hostileWalletBytecode } from './generated/hostileWalletBytecode.ts';
import { useChain } from './useChain.ts';

/** Order of the curve: `n - s` is the other `s` of a signature. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const alice = createUser('alice');
const bob = createUser('bob');

let rig: ChainRig;
let cloudId: Hex;

useChain(async (started) => {
  rig = started;
  cloudId = await rig.createPrism(alice);
});

const write = () => ({ cloudId, dataId: idOf('a'), payload: '0x11' });
const signWrite = (change: { nonce?: bigint; chainId?: number; forwarder?: Address } = {}) =>
  rig.sign({ action: 'WRITE_DATA_FOR', signer: alice, params: write(), ...change });
const refused = (nonce: bigint) => `InvalidSignature(${alice.address}, ${nonce})`;

describe('replay', () => {
  it('carries a request out once', async () => {
    const request = await rig.sign({ action: 'MODIFY_DATA_FOR', signer: alice, params: write() });
    await rig.act({ action: 'WRITE_DATA_FOR', signer: alice, params: write() });
    const modify = await rig.sign({ action: 'MODIFY_DATA_FOR', signer: alice, params: write() });
    expect((await rig.submit(modify)).error).toBeUndefined();
    expect((await rig.submit(modify)).error).toBe(refused(3n));
    // Signed for a nonce that another request has consumed.
    expect((await rig.submit(request)).error).toBe(refused(3n));
  });

  // Shows CHAIN-19.
  it('is over for a request whose signer has taken its nonce back', async () => {
    const request = await signWrite();
    await rig.client.setBalance({ address: alice.address, value: 10n ** 18n });
    await rig.client.impersonateAccount({ address: alice.address });
    const { error } = await rig.call({
      from: alice.address,
      to: rig.deployment.forwarder,
      abi: forwarderAbi,
      functionName: 'invalidateNonce',
      args: [],
    });
    await rig.client.stopImpersonatingAccount({ address: alice.address });
    expect(error).toBeUndefined();
    expect((await rig.submit(request)).error).toBe(refused(2n));
    expect((await rig.submit(await signWrite())).error).toBeUndefined();
  });

  it('refuses a nonce that is not yet due, and takes it when it is', async () => {
    const second = await rig.sign({ action: 'DELETE_DATA_FOR', signer: alice, params: write(), nonce: 2n } as never);
    expect((await rig.submit(second)).error).toBe(refused(1n));
    expect((await rig.submit(await signWrite())).error).toBeUndefined();
    expect((await rig.submit(second)).error).toBeUndefined();
  });

  // Shows CHAIN-10.
  it('keeps the nonce of a request that reverts, so that it may still be carried out later', async () => {
    const { params } = await signWrite();
    const early = await rig.sign({
      action: 'WRITE_DATA_FOR',
      signer: alice,
      params: { ...write(), timestamp: String((await rig.now()) + 50n) },
    });
    expect((await rig.submit(early)).error).toContain('RequestNotYetOpen');
    expect(await rig.readNonce(alice.address)).toBe(1n);
    expect((await rig.submit({ action: 'WRITE_DATA_FOR', params })).error).toBeUndefined();
  });

  it('refuses a signature for another chain', async () => {
    expect((await rig.submit(await signWrite({ chainId: 1 }))).error).toBe(refused(1n));
  });

  it('refuses one for another contract, also where that is its twin', async () => {
    const privateKey = rig.devnet.privateKeys[0]!;
    await rig.client.setAutomine(true);
    const twin = await deployContracts({ rpcUrl: rig.devnet.rpcUrl, privateKey, officialRelayers: [rig.official] });
    await rig.client.setAutomine(false);
    const request = await signWrite({ nonce: 0n });
    const { data } = encodeForwarderCall(request);
    expect((await rig.sendTransaction({ from: rig.official, to: twin.forwarder, data })).error).toBe(refused(0n));
    expect((await rig.submit(await signWrite({ forwarder: twin.forwarder }))).error).toBe(refused(1n));
  });

  it('follows the chain id, should the chain split', async () => {
    const { forwarder, chainId } = rig.deployment;
    const read = () =>
      rig.client.readContract({ address: forwarder, abi: forwarderAbi, functionName: 'domainSeparator' });
    expect(await read()).toBe(hashForwarderDomain({ chainId, forwarder }));
    await rig.client.request({ method: 'anvil_setChainId', params: [4242] } as never);
    try {
      expect(await read()).toBe(hashForwarderDomain({ chainId: 4242, forwarder }));
    } finally {
      await rig.client.request({ method: 'anvil_setChainId', params: [chainId] } as never);
    }
  });

  it('tells its domain (EIP-5267)', async () => {
    const { forwarder, chainId } = rig.deployment;
    const domain = await rig.client.getEip712Domain({ address: forwarder });
    expect(domain.domain).toMatchObject({ ...createForwarderDomain({ chainId, forwarder }) });
  });
});

describe('a signature', () => {
  it.each([0, 1, 2, 26, 29, 255])('with v = %i is refused', async (v) => {
    const { action, params } = await signWrite();
    expect((await rig.submit({ action, params: { ...params, v } })).error).toBe(refused(1n));
  });

  // Shows CHAIN-6.
  it('with a high s is refused', async () => {
    const { action, params } = await signWrite();
    const s = numberToHex(CURVE_ORDER - BigInt(params.s), { size: 32 });
    expect((await rig.submit({ action, params: { ...params, s, v: 55 - params.v } })).error).toBe(refused(1n));
  });

  it('of nobody is refused, for the zero address too', async () => {
    const { action, params } = await signWrite();
    const zero = numberToHex(0, { size: 32 });
    for (const signer of [alice.address, numberToHex(0, { size: 20 })]) {
      const { error } = await rig.submit({ action, params: { ...params, signer, r: zero, s: zero } });
      expect(error).toMatch(/^InvalidSignature/);
    }
  });

  type Unsigned<A extends SignedAction> = Omit<
    ActionParams<A>,
    'signer' | 'v' | 'r' | 's' | 'timestamp' | 'relayerFee'
  >;
  const creation = { fundAmount: '5', relayerFundAmount: '6', salt: '0x09' };
  const entries = { cloudId: '0x11', dataIds: ['0x01', '0x02'], payloads: ['0x03', '0x04'] };
  const samples: { readonly [A in SignedAction]: Unsigned<A> } = {
    CREATE_PRISM_FOR: creation,
    CREATE_PRISM_WITH_DATA_FOR: { ...creation, dataIds: entries.dataIds, payloads: entries.payloads },
    WRITE_DATA_FOR: { cloudId: '0x11', dataId: '0x01', payload: '0x03' },
    MODIFY_DATA_FOR: { cloudId: '0x11', dataId: '0x01', payload: '0x03' },
    DELETE_DATA_FOR: { cloudId: '0x11', dataId: '0x01' },
    TRANSFER_PRISM_FOR: { cloudId: '0x11', newOwner: bob.address },
    ACCEPT_TRANSFER_FOR: { cloudId: '0x11' },
    DELETE_PRISM_FOR: { cloudId: '0x11' },
    BATCH_WRITE_DATA_FOR: entries,
    BATCH_MODIFY_DATA_FOR: entries,
    BATCH_DELETE_DATA_FOR: { cloudId: '0x11', dataIds: entries.dataIds },
  };

  /** Another value of the same form. */
  function alter(value: unknown): unknown {
    if (Array.isArray(value)) return value.toReversed();
    const text = String(value);
    if (/^\d+$/.test(text)) return String(BigInt(text) + 1n);
    return `${text.slice(0, -1)}${text.endsWith('7') ? '8' : '7'}`;
  }

  it.each(Object.keys(samples) as SignedAction[])('covers every field of %s', async (action) => {
    const timestamp = String((await rig.now()) - 10n);
    // A sample of that action.
    const { params } = await rig.sign({ action, signer: alice, params: { ...samples[action], timestamp } } as never);
    const right = await rig.submit({ action, params });
    expect(right.error).not.toMatch(/^InvalidSignature/);
    const fields = Object.keys(params).filter((field) => !['v', 'r', 's', 'signer'].includes(field));
    expect(fields.length).toBeGreaterThanOrEqual(3);
    for (const field of fields) {
      const altered = {
        ...(params as Record<string, unknown>),
        [field]: alter((params as Record<string, unknown>)[field]),
      };
      const { error } = await rig.submit({ action, params: altered as never });
      expect.soft(error, field).toBe(refused(1n));
    }
    const { error } = await rig.submit({ action, params: { ...(params as object), signer: bob.address } as never });
    expect(error).toBe(`InvalidSignature(${bob.address}, 0)`);
  });

  it('of one action does not do for another of the same fields', async () => {
    const { params } = await signWrite();
    expect((await rig.submit({ action: 'MODIFY_DATA_FOR', params })).error).toBe(refused(1n));
  });
});

describe('a contract wallet (ERC-1271)', () => {
  async function createWallet(): Promise<Address> {
    const wallet = await rig.deploy(testWalletAbi, testWalletBytecode, [rig.outsider]);
    await rig.giveCredits(wallet, FUNDS);
    const approval = { abi: creditTokenAbi, functionName: 'approve', args: [rig.deployment.forwarder, FUNDS] } as const;
    const { error } = await rig.call({
      from: rig.outsider,
      to: wallet,
      abi: testWalletAbi,
      functionName: 'execute',
      args: [rig.deployment.creditToken, encodeFunctionData(approval)],
    });
    expect(error).toBeUndefined();
    return wallet;
  }

  // Shows CHAIN-6.
  it('signs by its code: creates a prism from its approval, and writes', async () => {
    const wallet = await createWallet();
    const signer = privateKeyToAccount(rig.devnet.privateKeys[2]!);
    const created = await rig.act({
      action: 'CREATE_PRISM_FOR',
      signer,
      wallet,
      params: { fundAmount: String(FUNDS), salt: '0x01' },
    });
    expect(created.error).toBeUndefined();
    expect(created.events).toMatchObject([{ signer: wallet, nonce: 0n, success: true }]);
    const id = deriveCloudId({ signer: wallet, salt: '0x01' });
    const params = { cloudId: id, dataId: '0x01', payload: '0x1271' };
    expect((await rig.act({ action: 'WRITE_DATA_FOR', signer, wallet, params })).error).toBeUndefined();
    expect(await rig.readData(id, numberToHex(1, { size: 32 }))).toBe('0x1271');
    // Another key is nobody to this wallet; and the wallet's own name under its owner's key is nobody's, either.
    const stolen = await rig.act({ action: 'DELETE_PRISM_FOR', signer: alice, wallet, params: { cloudId: id } });
    expect(stolen.error).toBe(`InvalidSignature(${wallet}, 2)`);
  });

  // Shows CHAIN-7.
  it('that checks the bare digest takes a signature for another wallet of its key: the structs name no signer', async () => {
    const [first, second] = [await createWallet(), await createWallet()];
    const signer = privateKeyToAccount(rig.devnet.privateKeys[2]!);
    const params = { fundAmount: String(FUNDS), salt: '0x01' };
    const signed = await rig.sign({ action: 'CREATE_PRISM_FOR', signer, wallet: first, params });
    expect((await rig.submit(signed)).error).toBeUndefined();
    const replayed = { ...signed, params: { ...signed.params, signer: second } };
    expect((await rig.submit(replayed)).error).toBeUndefined();
  });

  it('counts by its own key where it has one, as an account that has delegated to code does (EIP-7702)', async () => {
    // Code that would not say yes; whoever has the key could take it away at any time.
    await rig.client.setCode({ address: alice.address, bytecode: '0x00' });
    expect((await rig.submit(await signWrite())).error).toBeUndefined();
  });

  it('cannot call back in while it is asked', async () => {
    const hostile = await rig.deploy(hostileWalletAbi, hostileWalletBytecode);
    const inner = await signWrite();
    await rig.call({
      from: rig.deployer,
      to: hostile,
      abi: hostileWalletAbi,
      functionName: 'behave',
      args: [1, rig.deployment.forwarder, encodeForwarderCall(inner).data],
    });
    const params = { fundAmount: '0', salt: '0x01', relayerFee: '0' };
    const { error } = await rig.act({ action: 'CREATE_PRISM_FOR', signer: alice, wallet: hostile, params });
    expect(error).toBe(`InvalidSignature(${hostile}, 0)`);
    expect(await rig.readNonce(alice.address)).toBe(1n);
    expect((await rig.readPrism(cloudId)).balance).toBe(100n * CREDIT);
  });
});
