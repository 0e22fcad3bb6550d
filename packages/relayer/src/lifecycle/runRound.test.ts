import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import { isDue } from './candidates.ts';
import { createExecutionWatch } from './runRound.ts';

// What a candidate's memory reads of a record.
const record = { requestId: 'next', signer: '0xAA' } as RequestRecord;

function watch(executed: (fromBlock: bigint, toBlock: bigint) => readonly string[]) {
  const chain = { number: 10n, ranges: [] as string[], wakes: 0, faults: 0 };
  const context = makeContext({
    chain: {
      state: { block: async () => ({ ...HEAD, number: chain.number }) },
      async readExecuted({ fromBlock, toBlock }) {
        chain.ranges.push(`${fromBlock}-${toBlock}`);
        const relayerOf = (signer: string): Hex => (signer === '0xcc' ? `0x${'F1'.repeat(20)}` : '0xff');
        // Addresses of a test.
        return executed(fromBlock, toBlock).map((signer) => ({ signer: signer as Hex, relayer: relayerOf(signer) }));
      },
    },
    listeners: [({ type }) => void (type === 'fault' && chain.faults++)],
    wake: () => void chain.wakes++,
  });
  const { candidates } = context.gateway;
  const [candidate] = candidates.see([record], 0);
  const look = createExecutionWatch(context);
  function wait(): void {
    candidates.recordVerdict(candidate!, { kind: 'leave', reason: 'nonceAhead' }, 0);
  }
  return { look, wait, chain, isDue: () => isDue(candidate!, 1) };
}

// Shows RELAY-27.
test('what waits for its signer’s earlier request is looked at once a block has that, whoever carried it out', async () => {
  const { look, wait, chain, isDue } = watch((_, toBlock) => (toBlock === 12n ? ['0xAa'] : ['0xcc']));
  // Nothing waits.
  await look();
  expect(chain.ranges).toEqual([]);
  wait();
  await look();
  await look();
  expect([chain.ranges, isDue()]).toEqual([['10-10'], false]);
  chain.number = 12n;
  await look();
  // Of its own it knows otherwise.
  expect([chain.ranges.at(-1), isDue(), chain.wakes]).toEqual(['11-12', true, 1]);
});

test('a node that does not answer is asked for the same blocks again, and blocks that are long past are not read', async () => {
  let isDown = true;
  const { look, wait, chain } = watch(() => {
    if (isDown) throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_getLogs.');
    return [];
  });
  wait();
  await look();
  isDown = false;
  await look();
  chain.number = 5000n;
  await look();
  expect([chain.faults, chain.ranges]).toEqual([1, ['10-10', '10-10', '5000-5000']]);
  // That block was made up.
  chain.number = 11n;
  await look();
  expect(chain.ranges.at(-1)).toBe('11-11');
});
