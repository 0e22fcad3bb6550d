import type { Hash } from 'viem';
import type { BlockRecord, TransactionRecord } from './records.ts';

/** All blocks that ever were, and which of them are the chain now. */
export interface Branches {
  head(): BlockRecord;
  /** The block of a number on the branch that ends with `at`. */
  blockAt(at: BlockRecord, number: number): BlockRecord | undefined;
  /** Whether a block is `at`, or one before it on its branch. */
  isWithin(block: BlockRecord, at: BlockRecord): boolean;
  byHash(hash: Hash): BlockRecord | undefined;
  /** A transaction as the branch that ends with `at` has it. */
  findTransaction(hash: Hash, at: BlockRecord): TransactionRecord | undefined;
  /** Makes a block the newest; its parent must be the one before it. */
  append(block: BlockRecord, atSeconds: number): void;
  /** Takes blocks back. @returns them, newest first */
  retreat(depth: number, atSeconds: number): readonly BlockRecord[];
  /** The newest block at a time. */
  headAt(seconds: number): BlockRecord;
}

/** Makes the record of branches, with the first block. */
export function createBranches(genesis: BlockRecord): Branches {
  const canonical: BlockRecord[] = [genesis];
  const hashes = new Map<Hash, BlockRecord>([[genesis.hash, genesis]]);
  const mined = new Map<Hash, TransactionRecord[]>();
  const history: { readonly atSeconds: number; readonly head: BlockRecord }[] = [
    { atSeconds: genesis.timestampSeconds, head: genesis },
  ];
  // There is always the first block.
  const head = () => canonical.at(-1) as BlockRecord;
  const isCanonical = (block: BlockRecord) => canonical[block.number] === block;

  function blockAt(at: BlockRecord, number: number): BlockRecord | undefined {
    if (number > at.number || number < 0) return undefined;
    let block: BlockRecord | undefined = at;
    // Orphans are few, and the walk ends where the branches meet.
    while (block !== undefined && block.number > number && !isCanonical(block)) block = block.parent;
    return block !== undefined && block.number > number ? canonical[number] : block;
  }

  const isWithin = (block: BlockRecord, at: BlockRecord) => block === at || blockAt(at, block.number) === block;

  return {
    head,
    blockAt,
    isWithin,
    byHash: (hash) => hashes.get(hash),
    findTransaction: (hash, at) => mined.get(hash)?.find(({ block }) => isWithin(block, at)),
    append(block, atSeconds) {
      canonical.push(block);
      hashes.set(block.hash, block);
      history.push({ atSeconds, head: block });
      for (const transaction of block.transactions) {
        const records = mined.get(transaction.hash);
        if (records === undefined) mined.set(transaction.hash, [transaction]);
        else records.push(transaction);
      }
    },
    retreat(depth, atSeconds) {
      const removed = canonical.splice(canonical.length - depth, depth).reverse();
      history.push({ atSeconds, head: head() });
      return removed;
    },
    headAt(seconds) {
      let [low, high] = [0, history.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((history[middle]?.atSeconds ?? 0) <= seconds) low = middle;
        else high = middle - 1;
      }
      return history[low]?.head ?? genesis;
    },
  };
}
