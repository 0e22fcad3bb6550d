import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RpcFault } from './rpcFault.ts';
import { type Anvil, startAnvil } from './startAnvil.ts';
import { type RpcFaultProxy, startRpcFaultProxy } from './startRpcFaultProxy.ts';
import { TIMEOUT_MS } from './timeout.ts';

let anvil: Anvil;
let proxy: RpcFaultProxy;
beforeAll(async () => {
  anvil = await startAnvil();
  proxy = await startRpcFaultProxy({ target: anvil.rpcUrl });
});
afterAll(async () => {
  await proxy.stop();
  await anvil.stop();
});

/** How long no answer is waited for, in milliseconds: a node under load has mined by then. */
const SILENCE_MS = 1000;

const blockNumber = async () => Number(await anvil.rpc('eth_blockNumber'));

async function post(body: unknown, timeoutMs = TIMEOUT_MS): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return await fetch(proxy.url, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
}

async function call(method: string, timeoutMs?: number): Promise<unknown> {
  return await (await post({ jsonrpc: '2.0', id: 7, method, params: [] }, timeoutMs)).json();
}

const always = (fault: RpcFault) => proxy.setPlan(() => fault);

describe('calls', () => {
  test('pass and are counted, in batches, too, and the plan learns which of its method each is', async () => {
    const seen: string[] = [];
    proxy.setPlan((method, n) => void seen.push(`${method} ${n}`));
    const [ids, numbers] = ['eth_chainId', 'eth_blockNumber'].map((method) => proxy.counts.get(method) ?? 0) as [
      number,
      number,
    ];
    const total = proxy.total();
    expect(await call('eth_chainId')).toEqual({ jsonrpc: '2.0', id: 7, result: '0x7a69' });
    const calls = ['eth_chainId', 'eth_blockNumber'].map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }));
    const answers = await (await post(calls)).json();
    expect(answers).toMatchObject([{ id: 0, result: '0x7a69' }, { id: 1 }]);
    expect(seen).toEqual([`eth_chainId ${ids + 1}`, `eth_chainId ${ids + 2}`, `eth_blockNumber ${numbers + 1}`]);
    expect([proxy.counts.get('eth_chainId'), proxy.total()]).toEqual([ids + 2, total + 3]);
  });
});

describe('a fault', () => {
  test.each<[RpcFault['kind'], number]>([
    ['dropBefore', 0],
    ['stallBefore', 0],
    ['dropAfter', 1],
    ['stallAfter', 1],
  ])('%s gives no answer, and the node has done it %i times', async (kind, times) => {
    const before = await blockNumber();
    // These kinds have no other fields.
    always({ kind } as RpcFault);
    await expect(call('evm_mine', SILENCE_MS)).rejects.toThrow();
    expect((await blockNumber()) - before).toBe(times);
  });

  test('of HTTP is a status', async () => {
    always({ kind: 'rateLimit', retryAfterSeconds: 3 });
    const limited = await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    always({ kind: 'serverError' });
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).status).toBe(500);
    const before = await blockNumber();
    always({ kind: 'serverErrorAfter' });
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'evm_mine' })).status).toBe(500);
    expect(await blockNumber()).toBe(before + 1);
  });

  test('of the answer is nonsense', async () => {
    always({ kind: 'garbage' });
    await expect(call('eth_chainId')).rejects.toThrow(SyntaxError);
    always({ kind: 'wrongId' });
    expect(await call('eth_chainId')).not.toMatchObject({ id: 7 });
    always({ kind: 'answer', result: 'moon' });
    expect(await call('eth_chainId')).toEqual({ jsonrpc: '2.0', id: 7, result: 'moon' });
    always({ kind: 'error', code: -32_000, message: 'no' });
    expect(await call('eth_chainId')).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32_000, message: 'no' } });
    always({ kind: 'change', change: (result) => `${result}0` });
    expect(await call('eth_chainId')).toMatchObject({ result: '0x7a690' });
  });

  test('of a node that lags is the past', async () => {
    await anvil.rpc('anvil_mine', ['0x5']);
    const head = await blockNumber();
    always({ kind: 'lag', blocks: 2 });
    expect(await call('eth_blockNumber')).toMatchObject({ result: `0x${(head - 2).toString(16)}` });
    const asked = { jsonrpc: '2.0', id: 7, method: 'eth_getBlockByNumber', params: ['latest', false] };
    const block = await (await post(asked)).json();
    expect(block).toMatchObject({ result: { number: `0x${(head - 2).toString(16)}` } });
  });
});
