import { type RpcNode, type RpcNodeBehaviour, type RpcReply, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRpcClient } from '../client/createRpcClient.ts';
import { createSimulator, type SimulatedCall } from './createSimulator.ts';

const TOO_EARLY = '0x1234';
const call: SimulatedCall = { from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}`, data: '0xabcd' };
const BLOCK = { seconds: 1n };

let node: RpcNode;
let reported: string[];
let nowMs: number;
beforeEach(async () => {
  node = await startRpcNode();
  reported = [];
  nowMs = 0;
});
afterEach(() => node.stop());

const open = () =>
  createSimulator({
    client: createRpcClient({ rpcUrl: node.url }),
    now: () => nowMs,
    onFallback: (reason) => reported.push(reason),
    isTooEarly: (returned) => returned === TOO_EARLY,
  });

const simulated = (result: object): RpcReply => ({ result: [{ calls: [result] }] });
const revert = (data: string): RpcReply => ({ error: { code: 3, message: 'execution reverted', data } });

/** A node that answers `eth_simulateV1` so, and knows the two methods in its place. */
function knowing(
  simulate: RpcReply,
  others: { readonly call?: RpcReply; readonly estimate?: RpcReply } = {},
): RpcNodeBehaviour {
  const { call: called = { result: '0x56' }, estimate = { result: '0x10' } } = others;
  return {
    answer: ({ method }) => (method === 'eth_simulateV1' ? simulate : method === 'eth_call' ? called : estimate),
  };
}

const methods = () => node.exchanges.flatMap(({ calls }) => calls.map(({ method }) => method));

describe('by eth_simulateV1', () => {
  test('one execution at the given time tells gas and what is returned', async () => {
    node.behave(knowing(simulated({ status: '0x1', gasUsed: '0x5208', returnData: '0x99' })));
    expect(await open()(call, { seconds: 77n })).toEqual({ gas: 21_000n, returned: '0x99' });
    expect(node.exchanges[0]?.calls[0]?.params).toEqual([
      { blockStateCalls: [{ blockOverrides: { time: '0x4d' }, calls: [call] }] },
      'latest',
    ]);
  });

  test('with terms the very transaction is simulated, in a block that has what a contract can ask for', async () => {
    node.behave(knowing(simulated({ status: '0x1', gasUsed: '0x5208', returnData: '0x' })));
    const terms = { gasLimit: 50_000n, maxFeePerGas: 7n, maxPriorityFeePerGas: 2n };
    const seen = { number: 9n, baseFeePerGas: 5n, feeRecipient: call.to, prevRandao: `0x${'33'.repeat(32)}` } as const;
    await open()({ ...call, terms }, { seconds: 1n, ...seen });
    const blockOverrides = { ...seen, time: '0x1', number: '0x9', baseFeePerGas: '0x5' };
    const sent = { ...call, gas: '0xc350', maxFeePerGas: '0x7', maxPriorityFeePerGas: '0x2' };
    expect(node.exchanges[0]?.calls[0]?.params).toEqual([
      { blockStateCalls: [{ blockOverrides, calls: [sent] }], validation: true },
      'latest',
    ]);
  });

  test.each([
    ['in the result', simulated({ status: '0x0', gasUsed: '0x5208', returnData: '0x08c379a0' })],
    ['as an error', revert('0x08c379a0')],
  ])('a revert %s is one, and no reason to fall back', async (_, reply) => {
    node.behave(knowing(reply));
    expect(await open()(call, BLOCK)).toEqual({ reverted: '0x08c379a0' });
    expect([methods(), reported]).toEqual([['eth_simulateV1'], []]);
  });

  test('a node that does not answer is not taken for one that does not know the method', async () => {
    node.behave({ fail: () => ({ status: 503 }) });
    await expect(open()(call, BLOCK)).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
    expect(reported).toEqual([]);
  });
});

const refusals: readonly [string, RpcNodeBehaviour, string][] = [
  ['-32601', knowing({ error: { code: -32_601, message: 'no such method' } }), 'no such method'],
  ['-32600', knowing({ error: { code: -32_600, message: 'bad request' } }), 'bad request'],
  ['-32000 and words', knowing({ error: { code: -32_000, message: 'not supported' } }), 'not supported'],
  [
    'a code of its own',
    knowing({ error: { code: 35, message: 'method is not whitelisted' } }),
    'method is not whitelisted',
  ],
  ['nonsense', knowing({ result: 'moon' }), "the answer's simulated blocks is nonsense"],
  [
    'HTTP 400',
    {
      ...knowing({ result: null }),
      fail: (_, calls) => (calls.some(({ method }) => method === 'eth_simulateV1') ? { status: 400 } : undefined),
    },
    'HTTP status 400',
  ],
];

describe.each(refusals)('by eth_call, when eth_simulateV1 is answered with %s,', (_, behaviour, words) => {
  test('each call is simulated, the method is not asked for again at once, and it is reported once', async () => {
    node.behave(behaviour);
    const simulate = open();
    expect(await Promise.all([simulate(call, BLOCK), simulate(call, BLOCK)])).toEqual([
      { gas: 16n, returned: '0x56' },
      { gas: 16n, returned: '0x56' },
    ]);
    const before = node.exchanges.length;
    expect(await simulate(call, BLOCK)).toEqual({ gas: 16n, returned: '0x56' });
    expect(methods().slice(before)).not.toContain('eth_simulateV1');
    nowMs += 600_001;
    await simulate(call, BLOCK);
    expect(methods().filter((method) => method === 'eth_simulateV1').length).toBeGreaterThan(1);
    expect(reported).toEqual([words]);
  });
});

describe('by eth_call', () => {
  const unknown: RpcReply = { error: { code: -32_601, message: 'unknown' } };

  test('a revert is one, also when only one of the two methods tells what with', async () => {
    const estimate: RpcReply = { error: { code: -32_000, message: 'execution reverted' } };
    node.behave(knowing(unknown, { call: revert('0x12'), estimate }));
    expect(await open()(call, BLOCK)).toEqual({ reverted: '0x12' });
  });

  test('what comes too early for the newest block is tried in the pending one', async () => {
    node.behave({
      answer({ method, params = [] }) {
        if (method === 'eth_simulateV1') return unknown;
        if (params[1] === 'latest') return revert(TOO_EARLY);
        return { result: method === 'eth_call' ? '0x' : '0x10' };
      },
    });
    expect(await open()(call, BLOCK)).toEqual({ gas: 16n, returned: '0x' });
  });

  test('a word about this one call is no reason to give the method up', async () => {
    node.behave(knowing({ error: { code: -38_021, message: 'block timestamps must increase' } }));
    const simulate = open();
    expect(await simulate(call, BLOCK)).toEqual({ gas: 16n, returned: '0x56' });
    node.behave(knowing(simulated({ status: '0x1', gasUsed: '0x1', returnData: '0x' })));
    expect(await simulate(call, BLOCK)).toEqual({ gas: 1n, returned: '0x' });
    expect(reported).toEqual([]);
  });

  test('anybody may make a call that the node refuses: others are simulated as before', async () => {
    node.behave({
      answer({ method, params = [] }) {
        if (method !== 'eth_simulateV1') return { result: method === 'eth_call' ? '0x56' : '0x10' };
        const isOdd = JSON.stringify(params).includes(call.data);
        return isOdd
          ? { error: { code: -32_000, message: 'execution aborted' } }
          : simulated({ status: '0x1', gasUsed: '0x1', returnData: '0x' });
      },
    });
    const simulate = open();
    expect(await simulate(call, BLOCK)).toEqual({ gas: 16n, returned: '0x56' });
    expect(await simulate({ ...call, data: '0x77' }, BLOCK)).toEqual({ gas: 1n, returned: '0x' });
    expect(reported).toEqual([]);
  });

  test('an error of the node in the place of both is thrown', async () => {
    const error = { code: -32_603, message: 'internal error' };
    node.behave(knowing(unknown, { call: { error }, estimate: { error } }));
    await expect(open()(call, BLOCK)).rejects.toMatchObject({ code: -32_603 });
  });
});
