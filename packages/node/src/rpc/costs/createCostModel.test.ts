import { type Anvil, startAnvil } from '@prism-gateway/testing';
import { installArbitrum, installOpStack } from '@prism-gateway/testing/rollups';
import { type Hex, serializeTransaction, toFunctionSelector, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRpcClient, type RpcClient } from '../client/createRpcClient.ts';
import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { createCostModel } from './createCostModel.ts';

const GWEI = 10n ** 9n;
const to = '0x00000000000000000000000000000000000000aa';
/** 400 bytes that no compression shortens much. */
const NOISE =
  `0x${Array.from({ length: 400 }, (_, index) => ((index * 167 + (index >> 3) * 59) % 256).toString(16).padStart(2, '0')).join('')}` as Hex;
const ZEROS = `0x${'00'.repeat(400)}` as Hex;

let anvil: Anvil;
let client: RpcClient;
beforeAll(async () => {
  anvil = await startAnvil();
  client = createRpcClient({ rpcUrl: anvil.rpcUrl });
});
afterAll(async () => {
  client?.close();
  await anvil?.[Symbol.asyncDispose]();
});

// Shows COST-1.
test('a chain is asked what it charges: a plain one nothing beside gas, OP-stack a data fee, Arbitrum gas for data', async () => {
  const plain = await createCostModel(client);
  expect(plain.kind).toBe('plain');
  expect(await plain.extraCost({ to, data: NOISE, gas: 100_000n })).toEqual({ wei: 0n, gas: 0n });

  const snapshot = await anvil.rpc('evm_snapshot');
  const prices = { l1BaseFee: 20n * GWEI, blobBaseFee: GWEI, baseFeeScalar: 1368n, blobBaseFeeScalar: 810_949n };
  await installOpStack(anvil.rpcUrl, prices);
  const opStack = await createCostModel(client);
  expect(opStack.kind).toBe('op-stack');
  const dear = await opStack.extraCost({ to, data: NOISE, gas: 100_000n });
  const cheap = await opStack.extraCost({ to, data: ZEROS, gas: 100_000n });
  expect(dear.gas).toBe(0n);
  // Fjord: estimated size × (16 × scalar × base fee + blob scalar × blob base fee) ÷ 10^12, of at least 100 bytes.
  const perByte = (16n * 1368n * 20n * GWEI + 810_949n * GWEI) * 10n ** 6n;
  expect(cheap.wei).toBe((100n * perByte) / 10n ** 12n);
  const bytes = BigInt(serializeTransaction({ type: 'eip1559', chainId: 1, to, data: NOISE }).length / 2);
  expect(dear.wei).toBeGreaterThan((bytes * perByte) / 10n ** 12n / 2n);
  expect(dear.wei).toBeLessThan((2n * bytes * perByte) / 10n ** 12n);

  // An upgrade of the chain brings an operator fee to a relayer that runs.
  let operatorFee: Hex | undefined;
  const selector = toFunctionSelector('getOperatorFee(uint256)');
  const upgraded = await createCostModel({
    request: async (method, params) =>
      method === 'eth_call' && operatorFee !== undefined && JSON.stringify(params).includes(selector)
        ? operatorFee
        : await client.request(method, params),
  });
  expect((await upgraded.extraCost({ to, data: NOISE, gas: 100_000n })).wei).toBe(dear.wei);
  operatorFee = toHex(7n * GWEI, { size: 32 });
  expect((await upgraded.extraCost({ to, data: NOISE, gas: 100_000n })).wei).toBe(dear.wei + 7n * GWEI);
  // A node that knows nothing of it afterwards is not believed.
  operatorFee = undefined;
  await expect(upgraded.extraCost({ to, data: NOISE, gas: 100_000n })).rejects.toBeInstanceOf(RpcAnswerError);
  operatorFee = '0x';
  await expect(upgraded.extraCost({ to, data: NOISE, gas: 100_000n })).rejects.toBeInstanceOf(RpcUnavailableError);
  await anvil.rpc('evm_revert', [snapshot]);

  await installArbitrum(anvil.rpcUrl, { l1BaseFee: 20n * GWEI, l2BaseFee: GWEI / 100n });
  const arbitrum = await createCostModel(client);
  expect(arbitrum.kind).toBe('arbitrum');
  expect(await arbitrum.extraCost({ to, data: NOISE, gas: 100_000n })).toEqual({ wei: 0n, gas: 400n * 16n * 2000n });

  // As Arbitrum's own nodes have it: what they simulate holds the gas of the data, which is not to be counted twice.
  const own: Pick<RpcClient, 'request'> = {
    request: async (method, params) =>
      method === 'eth_simulateV1' ? [{ calls: [{ gasUsed: '0x6000' }] }] : await client.request(method, params),
  };
  expect(await (await createCostModel(own)).extraCost({ to, data: NOISE, gas: 100_000n })).toEqual({
    wei: 0n,
    gas: 0n,
  });
});

// Shows COST-1.
test('a node that cannot answer for a moment has no chain taken for one that charges for gas alone', async () => {
  const failing = (message: string): Pick<RpcClient, 'request'> => ({
    request: async (method, params) => {
      if (method === 'eth_call') throw new RpcAnswerError({ code: -32_000, message, data: undefined });
      return await client.request(method, params);
    },
  });
  await expect(createCostModel(failing('header not found'))).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  expect((await createCostModel(failing('invalid opcode: INVALID'))).kind).toBe('plain');
});
