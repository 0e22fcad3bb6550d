import { createChainReads } from './rig/chainReads.ts';
import { createChainRequests } from './rig/chainRequests.ts';
import { createChainTransactions } from './rig/chainTransactions.ts';
import { type ChainOptions, openChain } from './rig/openChain.ts';

export { describeError } from './rig/chainTransactions.ts';
export { CREDIT, createUser, DEFAULT_FEE, FUNDS, idOf } from './rig/users.ts';

/**
 * Starts a devnet with the contracts, and what tests do with them. Whoever starts it stops `devnet`.
 *
 * @param options - the contracts' parameters, and what the devnet tells
 */
export async function startChainRig(options: ChainOptions = {}) {
  const chain = await openChain(options);
  const reads = createChainReads(chain);
  const transactions = createChainTransactions(chain);
  return { ...chain, ...reads, ...transactions, ...createChainRequests(chain, { reads, transactions }) };
}

export type ChainRig = Awaited<ReturnType<typeof startChainRig>>;
