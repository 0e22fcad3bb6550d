import { expect, test } from 'vitest';
import { type BlockRange, createWalkBack } from './createWalkBack.ts';

async function collect<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of walk) found.push(one);
  return found;
}

/** A node that allows `limit` blocks a query, and notes what it is asked. */
function createNode(limit: bigint) {
  const asked: BlockRange[] = [];
  return {
    asked,
    async read(range: BlockRange): Promise<BlockRange | undefined> {
      asked.push(range);
      return range.toBlock - range.fromBlock < limit ? range : undefined;
    },
  };
}

test('a node’s limit is found once, and every block is read once, newest first', async () => {
  const walkBack = createWalkBack();
  const node = createNode(1000n);
  const read = await collect(walkBack({ fromBlock: 7n, toBlock: 1509n }, node.read));
  expect(read).toEqual([
    { fromBlock: 1135n, toBlock: 1509n },
    { fromBlock: 760n, toBlock: 1134n },
    { fromBlock: 385n, toBlock: 759n },
    { fromBlock: 10n, toBlock: 384n },
    { fromBlock: 7n, toBlock: 9n },
  ]);
  expect(node.asked.length).toBe(read.length + 1);
  expect(await collect(walkBack({ fromBlock: 0n, toBlock: 2n }, node.read))).toHaveLength(1);
  expect(node.asked.length).toBe(read.length + 2);
});

test('a node without a limit is asked little of a long chain', async () => {
  const node = createNode(10n ** 9n);
  const read = await collect(createWalkBack()({ fromBlock: 0n, toBlock: 20_000_000n }, node.read));
  expect(read.length).toBeLessThan(10);
  expect(read.at(-1)?.fromBlock).toBe(0n);
});

test('a node that refuses everything has failed, and nothing is concluded from it about the next time', async () => {
  const walkBack = createWalkBack();
  const range = { fromBlock: 0n, toBlock: 100_000n };
  await expect(collect(walkBack(range, async () => undefined))).rejects.toMatchObject({
    code: 'RPC_UNAVAILABLE',
  });
  const [first] = await collect(walkBack(range, createNode(10_000n).read));
  expect(first).toEqual({ fromBlock: 90_001n, toBlock: 100_000n });
});

test('a node that was too busy for wide queries for a moment gets them again', async () => {
  const walkBack = createWalkBack();
  const node = createNode(10n);
  await collect(walkBack({ fromBlock: 0n, toBlock: 99n }, node.read));
  const well = createNode(10n ** 9n);
  await collect(walkBack({ fromBlock: 0n, toBlock: 1_000_000n }, well.read));
  expect(well.asked.length).toBeLessThan(30);
});
