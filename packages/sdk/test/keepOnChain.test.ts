import { createWalletClient, custom } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AddedChain, type Eip1193Provider, keepOnChain } from '../src/index.ts';
import { CHAIN_NAME, DOMAIN, newAccount, type SdkRig, startSdkRig } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

const PRISM = { cloudId: '0x01', relayerFee: 1n };
const ETHER = { name: 'Ether', symbol: 'ETH', decimals: 18 };
const ADD: AddedChain = { chainName: 'Devnet', rpcUrls: ['http://127.0.0.1:8545'], nativeCurrency: ETHER };
const MAINNET = 1;

/** A wallet as browsers have them: it signs typed data of its own chain alone. */
function createWallet(known: readonly number[], options: { readonly refusal?: object; readonly adds?: boolean } = {}) {
  const account = newAccount();
  const chains = new Set(known);
  const asked: string[] = [];
  let chainId = MAINNET;
  const fail = (facts: object) => Object.assign(new Error('The wallet refuses.'), facts);
  const acts: Readonly<Record<string, (params: never) => unknown>> = {
    eth_requestAccounts: () => [account.address],
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_signTypedData_v4([, text]: [string, string]) {
      const typedData = JSON.parse(text);
      if (Number(typedData.domain.chainId) !== chainId) throw fail({ code: -32_603 });
      return account.signTypedData(typedData);
    },
    wallet_switchEthereumChain([{ chainId: wanted }]: [{ chainId: string }]) {
      if (options.refusal !== undefined) throw fail(options.refusal);
      if (!chains.has(Number(wanted))) throw fail({ code: 4902 });
      chainId = Number(wanted);
      return null;
    },
    wallet_addEthereumChain([added]: [AddedChain & { chainId: string }]) {
      expect(added).toEqual({ chainId: '0x7a69', ...ADD });
      chains.add(Number(added.chainId));
      if (options.adds === true) chainId = Number(added.chainId);
      return null;
    },
  };
  const provider: Eip1193Provider = {
    async request({ method, params }) {
      asked.push(method);
      const act = acts[method];
      if (act === undefined) throw fail({ code: 4200 });
      // Each act knows its params.
      return await act(params as never);
    },
  };
  const count = (method: string) => asked.filter((each) => each === method).length;
  return { account, provider, asked, count };
}

const userOf = (provider: Eip1193Provider) => rig.createUser({ provider });
const { chainId } = DOMAIN;

describe('a wallet on another chain', () => {
  it('as it is signs nothing', async () => {
    await expect(userOf(createWallet([MAINNET, chainId]).provider).deletePrism(PRISM)).rejects.toMatchObject({
      code: -32_603,
    });
  });

  it('is switched before it signs, once', async () => {
    const wallet = createWallet([MAINNET, chainId]);
    const user = userOf(keepOnChain(wallet.provider, { chainId }));
    const submissions = await Promise.all([user.deletePrism(PRISM), user.deletePrism(PRISM)]);
    expect(submissions.map(({ nonce }) => nonce)).toEqual([0n, 1n]);
    expect(wallet.count('wallet_switchEthereumChain')).toBe(1);
    expect(wallet.count('wallet_addEthereumChain')).toBe(0);
  });

  it.each([true, false])(
    'that does not know the chain learns of it, whether it then switches by itself: %s',
    async (adds) => {
      const wallet = createWallet([MAINNET], { adds });
      const user = userOf(keepOnChain(wallet.provider, { chainId, add: ADD }));
      expect((await user.deletePrism(PRISM)).record.chainName).toBe(CHAIN_NAME);
      expect(wallet.count('wallet_addEthereumChain')).toBe(1);
    },
  );

  it('works through a wallet client of viem as well', async () => {
    const wallet = createWallet([MAINNET, chainId]);
    // viem's type of a provider asks for events, too.
    const transport = custom(keepOnChain(wallet.provider, { chainId }) as never);
    const walletClient = createWalletClient({ transport, account: wallet.account.address });
    expect((await rig.createUser({ walletClient }).deletePrism(PRISM)).nonce).toBe(0n);
  });
});

describe('a wallet that stays on another chain', () => {
  it.each([
    ['for it does not know it', [MAINNET], {}, 'CHAIN_UNKNOWN'],
    [
      'for it does not know it, and says so deep inside',
      [MAINNET],
      { data: { originalError: { code: 4902 } } },
      'CHAIN_UNKNOWN',
    ],
    ['for its user refuses', [MAINNET, chainId], { code: 4001 }, 'CHAIN_NOT_SWITCHED'],
    ['for it cannot switch', [MAINNET, chainId], { code: 4200 }, 'CHAIN_NOT_SWITCHED'],
  ])('%s, says so, with both chains, and signs nothing', async (_, known, refusal, code) => {
    const wallet = createWallet(known, Object.keys(refusal).length > 0 ? { refusal } : {});
    const error = await userOf(keepOnChain(wallet.provider, { chainId }))
      .deletePrism(PRISM)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ChainSwitchError', code, wanted: chainId, actual: MAINNET });
    expect((error as Error).message).toMatch(/on chain 1, and is to sign for chain 31337/);
    expect((error as Error).cause).toBeInstanceOf(Error);
    expect(wallet.count('eth_signTypedData_v4')).toBe(0);
  });

  it('although it says that it has switched, is found out', async () => {
    const { provider } = createWallet([MAINNET, chainId]);
    const lying: Eip1193Provider = {
      request: async (call) => (call.method === 'wallet_switchEthereumChain' ? null : await provider.request(call)),
    };
    const submit = userOf(keepOnChain(lying, { chainId })).deletePrism(PRISM);
    await expect(submit).rejects.toMatchObject({ code: 'CHAIN_NOT_SWITCHED' });
  });

  it('may be asked again', async () => {
    const options: { refusal?: object } = { refusal: { code: 4001 } };
    const wallet = createWallet([MAINNET, chainId], options);
    const user = userOf(keepOnChain(wallet.provider, { chainId }));
    await expect(user.deletePrism(PRISM)).rejects.toMatchObject({ code: 'CHAIN_NOT_SWITCHED' });
    delete options.refusal;
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });
});
