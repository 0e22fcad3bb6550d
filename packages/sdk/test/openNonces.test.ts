import { recoverAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGatewayClient, type Submission, type UserClientOptions } from '../src/index.ts';
import { CHAIN_NAME, newAccount, QUICK_RETRY, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

const PRISM = { cloudId: '0x01', relayerFee: 1n };

async function fail({ requestId }: Submission): Promise<void> {
  await rig.relayer.claim(requestId);
  await rig.relayer.reportFailure(requestId, 'reverted');
}

/** The gateway, with lists of two records a page. */
function gatewayOfShortPages() {
  const { url } = rig.running;
  return createGatewayClient({ url, fetch: (input, init) => fetch(`${input}`.replace('limit=100', 'limit=2'), init) });
}

/** Posts copies of a request in its signer's name, as anybody may: each is stored. */
async function post(record: Submission['record'], count: number, chainName = CHAIN_NAME): Promise<void> {
  const { action, params } = record;
  const body = JSON.stringify({ chainName, action, params });
  const headers = { 'content-type': 'application/json' };
  for (let i = 0; i < count; i++) await fetch(`${rig.running.url}/requests`, { method: 'POST', headers, body });
}

describe('open requests of an earlier visit', () => {
  it('are found behind a gap that a failed one left', async () => {
    const account = newAccount();
    const before = rig.createUser({ account });
    const failed = await before.deletePrism(PRISM);
    for (let i = 0; i < 3; i++) await before.deletePrism(PRISM);
    await fail(failed);
    const after = rig.createUser({ account });
    const nonces = [await after.deletePrism(PRISM), await after.deletePrism(PRISM)].map(({ nonce }) => nonce);
    expect(nonces).toEqual([0n, 4n]);
  });

  it('are found behind an entry that was signed to be handed on', async () => {
    const account = newAccount();
    const before = rig.createUser({ account });
    for (let i = 0; i < 3; i++) await before.signWrite({ ...PRISM, dataId: '0x02', payload: '0x' });
    await before.deletePrism(PRISM);
    const after = rig.createUser({ account });
    const nonces: bigint[] = [];
    for (let i = 0; i < 4; i++) nonces.push((await after.deletePrism(PRISM)).nonce);
    expect(nonces).toEqual([0n, 1n, 2n, 4n]);
  });

  it('are found behind a page of requests that have ended', async () => {
    const account = newAccount();
    await rig.createUser({ account }).deletePrism(PRISM);
    const elsewhere = rig.createUser({ account, chainName: 'eip155:1' });
    for (let i = 0; i < 2; i++) await fail(await elsewhere.deletePrism(PRISM));
    const after = rig.createUser({ account, gateway: gatewayOfShortPages() });
    expect((await after.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('are found behind many pages of what strangers have posted', async () => {
    const account = newAccount();
    const { record } = await rig.createUser({ account }).deletePrism(PRISM);
    await post(record, 16, 'nobody:1');
    const after = rig.createUser({ account, gateway: gatewayOfShortPages() });
    expect((await after.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('are listed no further than is new, once they are known', async () => {
    const account = newAccount();
    const { record } = await rig.createUser({ account }).deletePrism(PRISM);
    await post(record, 5);
    const pages: string[] = [];
    // As if all had been made an hour ago, so that there is nothing new.
    const aged: typeof fetch = async (input, init) => {
      const answer = await fetch(`${input}`.replace('limit=100', 'limit=2'), init);
      if (!`${input}`.includes('limit=')) return answer;
      pages.push(`${input}`);
      const page = Object(await answer.json());
      for (const [index, item] of page.items.entries()) {
        item.createdAt = new Date(Date.now() - 3_600_000 * (pages.length + index)).toISOString();
      }
      return Response.json(page);
    };
    const gateway = createGatewayClient({ url: rig.running.url, fetch: aged });
    const after = rig.createUser({ account, gateway, nonceTrustMs: 0 });
    expect((await after.deletePrism(PRISM)).nonce).toBe(1n);
    expect(pages).toHaveLength(3);
    expect((await after.deletePrism(PRISM)).nonce).toBe(2n);
    expect(pages).toHaveLength(4);
  });

  it('are all found, however many there are within the last thousand', { timeout: 120_000 }, async () => {
    const account = newAccount();
    const before = rig.createUser({ account });
    for (let i = 0; i < 150; i++) await before.deletePrism(PRISM);
    expect((await rig.createUser({ account }).deletePrism(PRISM)).nonce).toBe(150n);
  });
});

describe('a request that replaces one which pays too little', () => {
  const DEARER = { ...PRISM, relayerFee: 2n };

  it('has its nonce, and those that follow go on', async () => {
    const account = newAccount();
    const user = rig.createUser({ account, nonceTrustMs: 0 });
    const cheap = await user.deletePrism(PRISM);
    const next = await user.deletePrism(PRISM);
    const dear = await user.deletePrism(DEARER, { replaces: cheap });
    expect([cheap.nonce, next.nonce, dear.nonce]).toEqual([0n, 1n, 0n]);
    expect(dear.record.params).toMatchObject({ relayerFee: '2' });
    expect((await user.deletePrism(PRISM)).nonce).toBe(2n);
    // Another visit finds both of them, in either order.
    expect((await rig.createUser({ account }).deletePrism(PRISM)).nonce).toBe(3n);
  });

  it('frees no nonce that the other one has, whichever of them fails', async () => {
    for (const which of [0, 1]) {
      const user = rig.createUser();
      const cheap = await user.deletePrism(PRISM);
      const both = [cheap, await user.deletePrism(DEARER, { replaces: cheap })];
      const failed = both[which]!;
      await fail(failed);
      expect((await failed.wait()).status).toBe('failed');
      expect((await user.deletePrism(PRISM)).nonce).toBe(1n);
    }
  });
});

describe('what strangers post in the name of a signer', () => {
  it('is looked through no further than a thousand records and 64 signatures, and never refuses a submit', async () => {
    const { record } = await rig.createUser().deletePrism(PRISM);
    const account = newAccount();
    const params = { ...record.params, signer: account.address };
    let pages = 0;
    const endless = createGatewayClient({
      url: rig.running.url,
      fetch: async (input, init) => {
        if (!`${input}`.includes('limit=')) return await fetch(input, init);
        pages++;
        const items = Array.from({ length: 100 }, () => ({ ...record, params, requestId: crypto.randomUUID() }));
        return Response.json({ items, count: 100, lastKey: `more ${pages}` });
      },
    });
    const user = rig.createUser({ account, gateway: endless });
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
    expect((await user.deletePrism(PRISM)).nonce).toBe(1n);
    expect(pages).toBe(10);
  });

  it('takes no nonce, and an abort is heard while it is checked', async () => {
    const account = newAccount();
    const { record } = await rig.createUser({ account: newAccount() }).deletePrism(PRISM);
    await post({ ...record, params: { ...record.params, signer: account.address } }, 40);
    const stop = new AbortController();
    const readNonce = async () => {
      setTimeout(() => stop.abort());
      return 0n;
    };
    const user = rig.createUser({ account, readNonce });
    await expect(user.deletePrism(PRISM, { signal: stop.signal })).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });
});

describe('a contract wallet', () => {
  const owner = newAccount();
  const wrongNode = new Error('The node is down.');

  /** A wallet of one owner, on a chain that answers as ERC-1271 has it. */
  function createWallet() {
    const { address } = newAccount();
    const publicClient = {
      async readContract({ functionName, args }: { readonly functionName: string; readonly args: never[] }) {
        if (functionName === 'nonces') return 0n;
        const [hash, signature] = args as unknown as [`0x${string}`, `0x${string}`];
        const recovered = await recoverAddress({ hash, signature });
        return recovered === owner.address ? '0x1626ba7e' : '0xffffffff';
      },
    };
    const account = { address, signTypedData: owner.signTypedData };
    const options = { account, signatures: 'erc1271' } as const;
    return { address, options, onChain: { ...options, publicClient } as Partial<UserClientOptions> };
  }

  it('is asked which open requests it has signed', async () => {
    const { address, options, onChain } = createWallet();
    for (const expected of [0n, 1n, 2n]) {
      expect((await rig.createUser(onChain).deletePrism(PRISM)).nonce).toBe(expected);
      const { record } = await rig.createUser().deletePrism(PRISM);
      await post({ ...record, params: { ...record.params, signer: address } }, 1);
    }
    // With no chain to ask, only this client's own requests count.
    const blind = rig.createUser(options);
    expect((await blind.deletePrism(PRISM)).nonce).toBe(0n);
    expect((await blind.deletePrism(PRISM)).nonce).toBe(1n);
  });

  it('that reverts has not signed; a node that fails has said nothing', async () => {
    const { onChain } = createWallet();
    await rig.createUser(onChain).deletePrism(PRISM);
    const failing = (error: Error) =>
      rig.createUser({ ...onChain, publicClient: { readContract: () => Promise.reject(error) } } as never);
    const reverted = Object.assign(new Error('reverted'), { name: 'ContractFunctionRevertedError' });
    expect((await failing(new Error('call', { cause: reverted })).deletePrism(PRISM)).nonce).toBe(0n);
    // As viem has it if a signature makes the wallet use all gas: the node's own answer at the end of the causes.
    const outOfGas = Object.assign(new Error('call'), { walk: () => ({ code: -32_000, message: 'out of gas' }) });
    expect((await failing(outOfGas).deletePrism(PRISM)).nonce).toBe(0n);
    await expect(failing(wrongNode).deletePrism(PRISM)).rejects.toBe(wrongNode);
  });
});

describe('failures', () => {
  it('free the nonces of all requests that were awaited together', async () => {
    const user = rig.createUser();
    const submitted = [await user.deletePrism(PRISM), await user.deletePrism(PRISM)];
    for (const one of submitted) await fail(one);
    const ended: number[] = [];
    const ids = submitted.map(({ requestId }) => requestId);
    const records = await user.waitForRequests(ids, { pollIntervalMs: 1, onProgress: (now) => ended.push(now.ended) });
    expect([records.map(({ status }) => status), ended]).toEqual([
      ['failed', 'failed'],
      [1, 2],
    ]);
    expect((await user.deletePrism(PRISM)).nonce).toBe(0n);
  });

  it('free their nonces also while a list is under way that shows them open', async () => {
    let atRead = async () => {};
    const gateway = createGatewayClient({
      url: rig.running.url,
      retry: QUICK_RETRY,
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        if (`${input}`.includes('limit=')) await atRead();
        return answer;
      },
    });
    const user = rig.createUser({ gateway, nonceTrustMs: 0 });
    const first = await user.deletePrism(PRISM);
    atRead = async () => {
      atRead = async () => {};
      await fail(first);
      await first.wait({ pollIntervalMs: 1 });
    };
    expect((await user.deletePrism(PRISM)).nonce).toBe(first.nonce);
  });

  it('of a request that has run are reported from the chain, though its report is late', async () => {
    let onChain = 0n;
    const user = rig.createUser({ readNonce: async () => onChain, nonceTrustMs: 0 });
    const { requestId } = await user.deletePrism(PRISM);
    onChain = 1n;
    expect((await user.deletePrism(PRISM)).nonce).toBe(1n);
    // A node that lags behind gives nothing out twice.
    onChain = 0n;
    expect((await user.deletePrism(PRISM)).nonce).toBe(2n);
    await rig.relayer.claim(requestId);
    await rig.relayer.reportSuccess(requestId, TX_HASH);
  });
});
