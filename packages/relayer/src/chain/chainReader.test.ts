import type { CostModel } from '@prism-gateway/node/rpc';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { ChainError } from './chainError.ts';
import { createChainReader } from './chainReader.ts';
import type { ChainRpc, ReadRpc } from './createChainRpc.ts';

const [ONE, OTHER] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const;
const costs: CostModel = { kind: 'plain', description: '', extraCost: async () => ({ wei: 0n, gas: 0n }) };

/** A chain whose node answers views of some signers alone. */
function read(fails: (data: string) => Error | undefined) {
  const rpc: ReadRpc = {
    async read([, call], parse) {
      const fault = fails(`${Object(call).data}`);
      if (fault !== undefined) throw fault;
      return parse(numberToHex(7n, { size: 32 }));
    },
  };
  // Nothing else is asked here.
  return createChainReader({ rpc: rpc as ChainRpc, forwarder: ONE, relayer: ONE, costs });
}

const silent = new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_call: rate-limited.');

test('one forwarder nonce that cannot be read holds up no other; that none can, and why, is thrown', async () => {
  const chain = read((data) => (data.includes('bb') ? silent : undefined));
  expect(await chain.nonces([ONE, OTHER])).toEqual(new Map([[ONE, 7n]]));
  await expect(chain.nonces([OTHER])).rejects.toBe(silent);
  expect(await chain.nonces([])).toEqual(new Map());
});

test('a defect is no silence of the node', async () => {
  const chain = read(() => new TypeError('a defect'));
  await expect(chain.nonces([ONE, OTHER])).rejects.toThrow(TypeError);
});
