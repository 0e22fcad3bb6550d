import { DatabaseSync } from 'node:sqlite';
import { type Address, type PublicClient, zeroAddress } from 'viem';
import { createMarkSearch } from '../chain/createMarkSearch.ts';
import { createBroadcastTable } from '../journal/createBroadcastTable.ts';
import { createMarkTable, type PlacedMark } from '../journal/createMarkTable.ts';
import { makeTables } from '../journal/schema.ts';

/** Whose payouts are looked for, and where. */
export interface PayoutsWanted {
  readonly client: PublicClient;
  readonly chainId: number;
  readonly creditToken: Address;
  readonly relayers: readonly Address[];
  readonly fromBlock: number;
  readonly reorgDepth: number;
}

/**
 * Searches the chain for payouts, as an instance does that remembers nothing: what its journal has found is not looked at.
 *
 * @param wanted - chain, token and relayers
 * @returns payouts of each relayer, newest first
 * @throws NodeBehindError; viem's errors
 */
export async function findPayouts(wanted: PayoutsWanted): Promise<readonly PlacedMark[]> {
  const { relayers, creditToken } = wanted;
  const database = new DatabaseSync(':memory:');
  try {
    makeTables(database);
    const marks = createMarkTable(database);
    const search = createMarkSearch({
      ...wanted,
      marks,
      broadcasts: createBroadcastTable(database),
      // Nothing that this search has broadcast need not be fetched.
      self: zeroAddress,
      // Payouts alone are wanted, and no announcements.
      stablecoin: creditToken,
      monotonicNow: () => performance.now(),
      signal: new AbortController().signal,
    });
    await search.search();
    return relayers.flatMap((relayer) => marks.listPayoutsBy(relayer));
  } finally {
    database.close();
  }
}
