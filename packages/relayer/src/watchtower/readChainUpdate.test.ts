import { numberToHex } from 'viem/utils';
import { expect, test } from 'vitest';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import { createChainLook } from './readChainUpdate.ts';

const FORWARDER = `0x${'aa'.repeat(20)}` as const;
const hashOf = (number: bigint) => numberToHex(number, { size: 32 });
const headOf = (number: bigint): SeenHead => ({
  ...{ number, hash: hashOf(number), seconds: 12n * number, baseFee: 0n },
});

/** A chain whose newest block has this number, and whose blocks are 12 s apart. */
function setUp(newest: bigint) {
  const clock = { ms: 0 };
  const searched: string[] = [];
  const rpc: ReadRpc = {
    async read([method, params], parse) {
      if (method === 'eth_getLogs') {
        searched.push((params as { readonly fromBlock: string }).fromBlock);
        return parse([]);
      }
      const number = params === 'latest' ? newest : BigInt(String(params));
      const block = { number: numberToHex(number), hash: hashOf(number), parentHash: hashOf(number - 1n) };
      return parse(number > newest ? null : { ...block, timestamp: numberToHex(12n * number) });
    },
  };
  const monotonicNow = () => clock.ms;
  const look = createChainLook({ rpc, forwarder: FORWARDER, fromBlock: 0n, confirmations: 3n, monotonicNow });
  return { clock, searched, look };
}

// Shows WATCH-2.
test('a block far ahead that a node has made up once does not blind the watch for ever', async () => {
  const { clock, searched, look } = setUp(1000n);
  const seen = [headOf(10n ** 9n), headOf(10n ** 9n - 1n)];
  const sinceSeconds = 12n * 900n;
  await expect(look(seen, { sinceSeconds })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  clock.ms = 899_999;
  await expect(look(seen, { sinceSeconds })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  clock.ms = 900_000;
  const { head, fork } = await look(seen, { sinceSeconds });
  expect([head.number, fork]).toEqual([1000n, 10n ** 9n - 2n]);
  // As on a first look.
  expect(searched).toEqual([numberToHex(901n)]);
});

test('a node that lags for a moment takes nothing back', async () => {
  const { clock, look } = setUp(1000n);
  await expect(look([headOf(1002n)], { sinceSeconds: 0n })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  clock.ms = 600_000;
  expect((await look([headOf(1000n)], { sinceSeconds: 0n })).fork).toBeUndefined();
  await expect(look([headOf(1002n)], { sinceSeconds: 0n })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  clock.ms = 1_200_000;
  await expect(look([headOf(1002n)], { sinceSeconds: 0n })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});
