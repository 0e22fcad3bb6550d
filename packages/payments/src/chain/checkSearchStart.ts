import type { Address, PublicClient } from 'viem';
import { explainError } from '../explainError.ts';

/** The search for payouts would begin after some that the journal does not know. */
export class SearchStartError extends Error {
  override readonly name = 'SearchStartError';
  readonly code = 'SEARCH_STARTS_TOO_LATE';

  /** @param facts - what is known of the account before the block, and what to set */
  constructor({ seen, act }: { readonly seen: string; readonly act: string }) {
    super(`SEARCH_FROM_BLOCK: ${seen}. Payouts before it would be made again. ${act}.`);
  }
}

type Count = (block: number) => Promise<number>;

/** Finds the first block after which an account has made more transactions than a number; undefined if the node keeps too few old states. */
async function findFirstBlock(count: Count, known: number, end: number): Promise<number | undefined> {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await count(middle).catch(() => known)) > known) high = middle;
    else low = middle + 1;
  }
  const isFirst = low === 0 || (await count(low - 1).catch(() => undefined)) !== undefined;
  return isFirst ? low : undefined;
}

const SAFE_ACT = 'Set it to 0, or name a node that keeps old states for this start';

/**
 * Makes sure that the search for payouts begins before the account's first transaction that the journal does not know. Without this, a lost
 * disk with a wrong `SEARCH_FROM_BLOCK` would pay again what was paid before it.
 *
 * @param account - its address, where the search begins, and how many of its transactions the journal knows
 * @throws SearchStartError `SEARCH_STARTS_TOO_LATE`; viem's errors if the node does not answer at all
 * @see docs/specification.md PAY-16
 */
export async function checkSearchStart(
  client: PublicClient,
  account: { readonly self: Address; readonly fromBlock: number; readonly known: number },
): Promise<void> {
  const { self: address, fromBlock, known } = account;
  // An unused account has paid nothing, whatever the node keeps of old blocks.
  if (fromBlock === 0 || (await client.getTransactionCount({ address })) <= known) return;
  const count = (block: number) => client.getTransactionCount({ address, blockNumber: BigInt(block) });
  const before = fromBlock - 1;
  try {
    const made = await count(before);
    if (made <= known) return;
    const first = await findFirstBlock(count, known, before);
    throw new SearchStartError({
      seen: `${address} has made ${made} transactions before block ${fromBlock}, and the journal knows of ${known}`,
      act: first === undefined ? SAFE_ACT : `Set it to ${first} or less`,
    });
  } catch (error) {
    if (error instanceof SearchStartError) throw error;
    throw new SearchStartError({
      seen: `the node does not say how many transactions ${address} has made before block ${fromBlock} (${explainError(error)})`,
      act: SAFE_ACT,
    });
  }
}
