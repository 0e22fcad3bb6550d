import { expect, test } from 'vitest';
import type { ChainRpc } from './createChainRpc.ts';
import { findBlockAt } from './findExecution.ts';

/** Block n has the time 100 + 10 × n. */
const rpc: Pick<ChainRpc, 'read'> = {
  read: async ([, tag], parse) => parse({ timestamp: `0x${(100 + 10 * Number(tag)).toString(16)}` }),
};

test.each([
  [99n, -1n],
  [100n, 0n],
  [119n, 1n],
  [120n, 2n],
  [1089n, 98n],
  [1090n, 99n],
  [5000n, 99n],
])('the newest block at %d seconds is %d', async (seconds, block) => {
  const head = { number: 99n, timestamp: 1090n };
  expect(await findBlockAt({ rpc, seconds, fromBlock: 0n, head })).toBe(block);
});
