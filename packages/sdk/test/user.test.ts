import { ACTIONS, type RequestRecord } from '@prism-gateway/protocol';
import { recoverRequestSigner, type SignedAction } from '@prism-gateway/protocol/typed-data';
import { createWalletClient, custom, type EIP1193Provider } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ActionInput, type Eip1193Provider, submitMultiUserBatch, type UserVerbs } from '../src/index.ts';
import { CHAIN_NAME, DOMAIN, newAccount, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

const FEE = { relayerFee: 10n ** 16n };
const PRISM = { cloudId: '0x01', ...FEE };

/** Tells who signed a stored request over a nonce. */
async function recover(record: RequestRecord, nonce: bigint): Promise<string> {
  // Records of users' own actions only; their params are as they were signed.
  const params = record.params as Parameters<typeof recoverRequestSigner>[0]['params'];
  return await recoverRequestSigner({ ...DOMAIN, action: record.action as SignedAction, params, nonce });
}

/** A wallet as a browser injects it, over a key of our own. */
function createProvider(account: PrivateKeyAccount, methods: string[] = []): Eip1193Provider {
  return {
    async request({ method, params }) {
      methods.push(method);
      if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [account.address];
      // The method's parameters: address, and typed data as JSON.
      const [address, text] = params as [string, string];
      if (method !== 'eth_signTypedData_v4' || address !== account.address) throw new Error(`unexpected ${method}`);
      const typedData = JSON.parse(text);
      // Wallets want the domain's own struct spelled out, and integers as text.
      expect(Object.keys(typedData.domain)).toEqual(
        typedData.types.EIP712Domain.map((field: { name: string }) => field.name),
      );
      expect(typedData.message.relayerFee).toBe(String(FEE.relayerFee));
      return await account.signTypedData(typedData);
    },
  };
}

const prism = { cloudId: '0x01' };
const entry = { ...prism, dataId: '0x02' };
const entries = { ...prism, dataIds: ['0x02', '0x03'] };
const payloads = ['0xaa', '0x'];
/** Each verb with what it takes. */
const wishes: { readonly [V in keyof UserVerbs]: Parameters<UserVerbs[V]>[0] } = {
  createPrism: { fundAmount: 0n, salt: '0x0a', ...FEE },
  createPrismWithData: {
    fundAmount: 0n,
    relayerFundAmount: 5n,
    salt: '0x0b',
    dataIds: ['0x02'],
    payloads: ['0xaa'],
    ...FEE,
  },
  writeData: { ...entry, payload: '0xaa', ...FEE },
  modifyData: { ...entry, payload: '0xbb', ...FEE },
  deleteData: { ...entry, ...FEE },
  transferPrism: { ...prism, newOwner: newAccount().address, ...FEE },
  acceptTransfer: { ...prism, ...FEE },
  deletePrism: { ...prism, ...FEE },
  batchWriteData: { ...entries, payloads, ...FEE },
  batchModifyData: { ...entries, payloads, ...FEE },
  batchDeleteData: { ...entries, ...FEE },
};

describe('signing', () => {
  it('has a verb for each action, each signed over the next nonce', async () => {
    const user = rig.createUser();
    const address = await user.getAddress();
    const actions: string[] = [];
    for (const [verb, wish] of Object.entries(wishes)) {
      // Verbs and what they take come from one table.
      const act = user[verb as 'deletePrism'];
      const { record, nonce } = await act(wish as ActionInput<'DELETE_PRISM_FOR'>);
      expect(nonce).toBe(BigInt(actions.length));
      expect(await recover(record, nonce)).toBe(address);
      actions.push(record.action);
    }
    expect(actions.toSorted()).toEqual(ACTIONS.filter((action) => action !== 'BATCH_MULTI_USER_WRITE_DATA').toSorted());
  });

  it('takes a viem wallet client, with an account of its own or of its wallet', async () => {
    const account = newAccount();
    // viem types each method of a provider by itself.
    const wallet = custom(createProvider(account) as EIP1193Provider);
    const own = rig.createUser({ walletClient: createWalletClient({ account, transport: wallet }) });
    const wallets = rig.createUser({ walletClient: createWalletClient({ transport: wallet }) });
    for (const [index, user] of [own, wallets].entries()) {
      const { record, nonce } = await user.writeData({ ...entry, payload: '0xaa', ...FEE });
      expect(nonce).toBe(BigInt(index));
      expect(await recover(record, nonce)).toBe(account.address);
    }
  });

  it('takes an EIP-1193 provider, and asks it for an account when it is first needed', async () => {
    const [account, methods] = [newAccount(), [] as string[]];
    const user = rig.createUser({ provider: createProvider(account, methods) });
    expect(methods).toEqual([]);
    const { record, nonce } = await user.createPrism({ fundAmount: 0n, salt: '0x01', ...FEE });
    expect(await recover(record, nonce)).toBe(account.address);
    await user.deletePrism(PRISM);
    expect(methods).toEqual(['eth_requestAccounts', 'eth_signTypedData_v4', 'eth_signTypedData_v4']);
  });

  it('passes on that the user refused, and asks again the next time', async () => {
    const account = newAccount();
    const provider = createProvider(account);
    let refusals = 2;
    const moody: Eip1193Provider = {
      request: async (call) => {
        // Once for the account, once for the signature.
        if (refusals > 0 && refusals-- > 0) throw Object.assign(new Error('User rejected'), { code: 4001 });
        return await provider.request(call);
      },
    };
    const user = rig.createUser({ provider: moody });
    await expect(user.deletePrism(PRISM)).rejects.toMatchObject({ code: 4001 });
    refusals = 0;
    await user.getAddress();
    refusals = 1;
    await expect(user.deletePrism(PRISM)).rejects.toMatchObject({ code: 4001 });
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });

  it('says so where a wallet gives no account, or no signature', async () => {
    const empty = rig.createUser({ provider: { request: async () => [] } });
    await expect(empty.getAddress()).rejects.toMatchObject({ code: 'SIGNER_MISSING' });
    const { address } = newAccount();
    const mute = rig.createUser({ provider: { request: async () => undefined }, address });
    await expect(mute.deletePrism(PRISM)).rejects.toMatchObject({ code: 'WALLET_ANSWER' });
    const contract = rig.createUser({ provider: { request: async () => `0x${'ab'.repeat(200)}` }, address });
    await expect(contract.deletePrism(PRISM)).rejects.toMatchObject({ code: 'SIGNATURE_FORMAT' });
  });
});

describe('nonces', () => {
  it('go in order, however many verbs are called at once', async () => {
    const user = rig.createUser();
    const calls = Array.from({ length: 20 }, () => user.deletePrism(PRISM));
    const submitted = await Promise.all(calls);
    expect(submitted.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i)));
    const stored: string[] = [];
    for await (const { requestId } of rig.gateway.listRequests({ signer: await user.getAddress() }))
      stored.push(requestId);
    expect(stored).toEqual(submitted.map(({ requestId }) => requestId));
  });

  it('go on where an earlier visit left open requests', async () => {
    const account = newAccount();
    const before = rig.createUser({ account, readNonce: async () => 3n });
    for (let i = 0; i < 3; i++) await before.deletePrism(PRISM);
    const after = rig.createUser({ account, readNonce: async () => 3n });
    expect((await after.deletePrism(PRISM)).nonce).toBe(6n);
    // By now the chain has run the first four.
    const later = rig.createUser({ account, readNonce: async () => 7n });
    expect((await later.deletePrism(PRISM)).nonce).toBe(7n);
  });

  it('are taken in turns with another device', async () => {
    const account = newAccount();
    const [phone, laptop] = [0, 1].map(() => rig.createUser({ account, nonceTrustMs: 0 }));
    const nonces: bigint[] = [];
    for (const user of [phone, laptop, laptop, phone]) nonces.push((await user!.deletePrism(PRISM)).nonce);
    expect(nonces).toEqual([0n, 1n, 2n, 3n]);
  });

  it('are filled in where a request failed and its nonce was not used', async () => {
    const user = rig.createUser();
    const [first, second] = [await user.deletePrism(PRISM), await user.deletePrism(PRISM)];
    await rig.relayer.claim(first.requestId);
    await rig.relayer.reportFailure(first.requestId, 'reverted');
    expect((await first.wait({ pollIntervalMs: 1 })).status).toBe('failed');
    expect((await user.deletePrism(PRISM)).nonce).toBe(first.nonce);
    expect((await user.deletePrism(PRISM)).nonce).toBe(second.nonce + 1n);
  });

  it('are asked of the chain after a failure, which may have used one up', async () => {
    let onChain = 0n;
    const user = rig.createUser({ readNonce: async () => onChain });
    const { requestId, nonce, wait } = await user.deletePrism(PRISM);
    await rig.relayer.claim(requestId);
    await rig.relayer.reportFailure(requestId, 'another request with this nonce was faster');
    onChain = nonce + 1n;
    await wait({ pollIntervalMs: 1 });
    expect((await user.deletePrism(PRISM)).nonce).toBe(onChain);
  });

  it('are not taken back by a node that lags behind a success', async () => {
    const user = rig.createUser({ nonceTrustMs: 0 });
    const { requestId, wait } = await user.deletePrism(PRISM);
    await rig.relayer.claim(requestId);
    await rig.relayer.reportSuccess(requestId, TX_HASH);
    await wait({ pollIntervalMs: 1 });
    expect((await user.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('are given back by a request that was refused', async () => {
    const user = rig.createUser();
    await user.deletePrism(PRISM);
    await expect(user.deletePrism({ ...PRISM, cloudId: '0x' })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect((await user.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('are not held by what is too old for the Forwarder, nor by another chain', async () => {
    const account = newAccount();
    const old = BigInt(Math.floor(Date.now() / 1000) - 90_000);
    await rig.createUser({ account }).deletePrism({ ...PRISM, timestamp: old });
    await rig.createUser({ account, chainName: 'eip155:1' }).deletePrism(PRISM);
    expect((await rig.createUser({ account }).deletePrism(PRISM)).nonce).toBe(0n);
    const patient = rig.createUser({ account, maxAgeSeconds: 100_000 });
    expect((await patient.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('do not wait behind a caller that has given up', async () => {
    const answer = Promise.withResolvers<void>();
    const account = newAccount();
    const slow = {
      address: account.address,
      signTypedData: async (data: never) => {
        await answer.promise;
        return await account.signTypedData(data);
      },
    };
    const user = rig.createUser({ account: slow });
    const first = user.deletePrism(PRISM);
    const stop = new AbortController();
    const second = user.deletePrism(PRISM, { signal: stop.signal });
    const third = user.deletePrism(PRISM);
    stop.abort(new Error('enough'));
    await expect(second).rejects.toMatchObject({ code: 'ABORTED', cause: new Error('enough') });
    answer.resolve();
    expect([(await first).nonce, (await third).nonce]).toEqual([0n, 1n]);
  });
});

describe('batches of several users', () => {
  it('gather writes that each has signed for itself', async () => {
    const users = [rig.createUser(), rig.createUser()];
    const wish = { ...entry, payload: '0xaa', ...FEE };
    const signed = await Promise.all(users.map((user) => user.signWrite(wish)));
    const signer = newAccount().address;
    const requests = signed.map(({ entry }) => entry);
    const record = await submitMultiUserBatch(rig.gateway, { chainName: CHAIN_NAME, signer, requests });
    expect(record).toMatchObject({ action: 'BATCH_MULTI_USER_WRITE_DATA', signer, params: { requests } });
    expect(record.params.relayerFee).toBe(`${2n * FEE.relayerFee}`);
  });

  it('hold a nonce until it is given back', async () => {
    const user = rig.createUser({ nonceTrustMs: 0 });
    const { nonce } = await user.signWrite({ ...entry, payload: '0xaa', ...FEE });
    expect((await user.deletePrism(PRISM)).nonce).toBe(nonce + 1n);
    await user.releaseNonce(nonce);
    expect((await user.deletePrism(PRISM)).nonce).toBe(nonce);
  });
});
