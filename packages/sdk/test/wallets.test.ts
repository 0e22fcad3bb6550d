import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Eip1193Provider, SignatureFormatError } from '../src/index.ts';
import { newAccount, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

const PRISM = { cloudId: '0x01', relayerFee: 1n };
const MUTE: Eip1193Provider = { request: () => new Promise(() => {}) };

describe('a wallet that does not answer', () => {
  it('does not hold up what is awaited of the gateway', async () => {
    const requestId = await rig.submitOne();
    const user = rig.createUser({ provider: MUTE });
    const wait = user.waitForRequest(requestId, { timeoutMs: 20 });
    await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' });
    await rig.relayer.claim(requestId);
    await rig.relayer.reportSuccess(requestId, TX_HASH);
    expect((await user.waitForRequest(requestId)).status).toBe('success');
  });

  it.each([
    ['for an account', (request: () => Promise<never>) => rig.createUser({ provider: { request } })],
    [
      'for a signature',
      (signTypedData: () => Promise<never>) =>
        rig.createUser({ account: { address: newAccount().address, signTypedData } }),
    ],
    ['for a nonce', (readNonce: () => Promise<never>) => rig.createUser({ readNonce })],
  ])('is left when it is asked %s and the caller gives up', async (_, createUser) => {
    const caller = new AbortController();
    const user = createUser(() => {
      setImmediate(() => caller.abort());
      return new Promise(() => {});
    });
    const submit = user.deletePrism(PRISM, { signal: caller.signal });
    await expect(submit).rejects.toMatchObject({ code: 'ABORTED', mayHaveHappened: false });
  });

  it('lets the next verb have the nonce', async () => {
    const account = newAccount();
    let isMute = true;
    const signTypedData: typeof account.signTypedData = (data) =>
      isMute ? new Promise(() => {}) : account.signTypedData(data);
    const user = rig.createUser({ account: { address: account.address, signTypedData } as never });
    const first = user.deletePrism(PRISM, { signal: AbortSignal.timeout(50) });
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    isMute = false;
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });
});

describe('a wallet that answers otherwise than asked', () => {
  it('with the signature of another account has nothing submitted', async () => {
    const [asked, other] = [newAccount(), newAccount()];
    let signing = other;
    const provider: Eip1193Provider = {
      request: async ({ method, params }) =>
        method === 'eth_requestAccounts' ? [asked.address] : signing.signTypedData(JSON.parse(Object(params)[1])),
    };
    const user = rig.createUser({ provider });
    await expect(user.deletePrism(PRISM)).rejects.toMatchObject({ name: 'WalletError', code: 'WRONG_SIGNER' });
    await expect(user.signWrite({ ...PRISM, dataId: '0x02', payload: '0x' })).rejects.toMatchObject({
      code: 'WRONG_SIGNER',
    });
    signing = asked;
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });

  it('with what is no signature of a key is reported by an error that can be imported', async () => {
    const provider: Eip1193Provider = { request: async () => '0xab' };
    const user = rig.createUser({ provider, address: newAccount().address });
    await expect(user.deletePrism(PRISM)).rejects.toBeInstanceOf(SignatureFormatError);
  });
});

describe('a browser wallet', () => {
  it('is asked for leave also where the account is known', async () => {
    const account = newAccount();
    let hasLeave = false;
    const provider: Eip1193Provider = {
      async request({ method, params }) {
        hasLeave ||= method === 'eth_requestAccounts';
        if (!hasLeave) throw Object.assign(new Error('The page has no leave.'), { code: 4100 });
        return method === 'eth_requestAccounts'
          ? [newAccount().address]
          : await account.signTypedData(JSON.parse(Object(params)[1]));
      },
    };
    const user = rig.createUser({ provider, address: account.address });
    expect((await user.deletePrism(PRISM)).record.params.signer).toBe(account.address);
  });
});

describe('options that are undefined', () => {
  it('are as if they were absent', async () => {
    const { record } = await rig.createUser().deletePrism({ ...PRISM, timestamp: undefined });
    expect(Number(record.params.timestamp)).toBeGreaterThan(Date.now() / 1000 - 60);
  });
});
