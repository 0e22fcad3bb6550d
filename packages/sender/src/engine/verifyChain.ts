import { setTimeout as pause } from 'node:timers/promises';
import { RpcUnavailableError } from '@prism-gateway/rpc';
import type { Chain } from '../chain/createChain.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { SenderOptions } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import { retryPause } from './retryPause.ts';

/** How long the node is given, and how often it is asked. */
interface Patience {
  readonly rpcPatienceMs: number;
  readonly pollIntervalMs: number;
}

/** Asks until there is an answer. @throws SenderError `RPC_UNAVAILABLE` */
async function ask<T>(question: () => Promise<T>, { rpcPatienceMs, pollIntervalMs }: Patience): Promise<T> {
  const sinceMs = performance.now();
  for (let faults = 1; ; faults++) {
    try {
      return await question();
    } catch (error) {
      if (performance.now() - sinceMs >= rpcPatienceMs) {
        throw new SenderError('RPC_UNAVAILABLE', 'The node does not answer; check its URL and state.', {
          cause: error,
        });
      }
      await pause(retryPause(error, { faults, pollIntervalMs }));
    }
  }
}

/** More than any node keeps waiting for one account. */
const MAX_PENDING = 10_000;

/** Both counts must agree as far as they can: a nonce that is made up would never be mined, nor would any above it. */
async function readNonces(chain: Chain): Promise<{ latestNonce: number; pendingNonce: number }> {
  const [latest, pending] = await Promise.all([chain.accountNonce('latest'), chain.accountNonce('pending')]);
  if (pending >= latest && pending - latest <= MAX_PENDING) return { latestNonce: latest, pendingNonce: pending };
  throw new RpcUnavailableError('the account nonce is nonsense');
}

function settleFact(journal: Journal, fact: { name: string; value: string; told: string }): void {
  const first = journal.settleFact(fact.name, fact.value);
  if (first === fact.value) return;
  throw new SenderError(
    'WRONG_CHAIN',
    `The journal was kept for ${fact.told} ${first}, not ${fact.value}; use another journal.`,
  );
}

/**
 * Makes sure that node, settings and journal speak of the same chain and key, and asks where the account stands.
 *
 * @param parts - the node, the journal, and what the caller wants
 * @returns the chain's id, and the account's transaction count, without and with what waits in the node
 * @throws SenderError `WRONG_CHAIN`, `RPC_UNAVAILABLE`
 */
export async function verifyChain(parts: {
  readonly chain: Chain;
  readonly journal: Journal;
  readonly options: Pick<SenderOptions, 'chainId' | 'account'>;
  readonly patience: Patience;
}): Promise<{ chainId: number; latestNonce: number; pendingNonce: number }> {
  const { chain, journal, options, patience } = parts;
  const [chainId, genesisHash, nonces] = await Promise.all([
    ask(chain.chainId, patience),
    ask(chain.genesisHash, patience),
    ask(() => readNonces(chain), patience),
  ]);
  if (options.chainId !== undefined && options.chainId !== chainId) {
    throw new SenderError('WRONG_CHAIN', `The node is of chain ${chainId}, not ${options.chainId}; check its URL.`);
  }
  settleFact(journal, { name: 'chainId', value: `${chainId}`, told: 'chain' });
  settleFact(journal, { name: 'address', value: options.account.address.toLowerCase(), told: 'the key of' });
  // A devnet that was started anew has the same id and another history.
  if (genesisHash !== undefined) {
    settleFact(journal, { name: 'genesisHash', value: genesisHash, told: 'the chain whose first block is' });
  }
  return { chainId, ...nonces };
}
