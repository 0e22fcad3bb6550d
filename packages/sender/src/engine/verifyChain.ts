import { setTimeout as pause } from 'node:timers/promises';
import { leastAgreed, RpcUnavailableError } from '@prism-gateway/node/rpc';
import type { Hash } from 'viem';
import type { Chain } from '../chain/createChain.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { SenderOptions } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import { retryPause } from './retryPause.ts';

/** How long the node is given, and how often it is asked. */
interface Timing {
  readonly nodeTimeoutMs: number;
  readonly pollIntervalMs: number;
}

/** Asks until there is an answer. @throws SenderError `RPC_UNAVAILABLE` */
async function ask<T>(question: () => Promise<T>, { nodeTimeoutMs, pollIntervalMs }: Timing): Promise<T> {
  const sinceMs = performance.now();
  for (let faults = 1; ; faults++) {
    try {
      return await question();
    } catch (error) {
      if (performance.now() - sinceMs >= nodeTimeoutMs) {
        const why =
          error instanceof RpcUnavailableError && error.code === 'RPC_ANSWER_INVALID' ? ` (${error.message})` : '';
        throw new SenderError('RPC_UNAVAILABLE', `The node does not answer${why}; check its URL and state.`, {
          cause: error,
        });
      }
      await pause(retryPause(error, { faults, pollIntervalMs }));
    }
  }
}

/** More than any node keeps waiting for one account. */
const MAX_PENDING = 10_000;

/** So many of several nodes have to agree. */
const MAJORITY = 2;
/** How long the other nodes are waited for once one has answered, in milliseconds: where the account stands is asked once. */
const OPENING_PATIENCE_MS = 3000;

/** A node whose newest block is older than another's by more than this has fallen behind, in seconds. */
const STALE_SECONDS = 60n;

/** How many transactions of the account there are. */
interface Counts {
  /** Mined. */
  readonly latestNonce: number;
  /** With what waits in a node. */
  readonly pendingNonce: number;
}

/** Those that have fallen behind: what they know of fewer transactions says nothing. */
async function listStale(chain: Chain, nowMs: number): Promise<readonly number[]> {
  const answers = await chain.headTimes();
  const latest = BigInt(Math.floor(nowMs / 1000)) + STALE_SECONDS;
  // A block of the future is made up.
  if (answers.some(({ seconds }) => seconds > latest)) return [];
  const isStale = (seconds: bigint) => answers.some((other) => seconds + STALE_SECONDS < other.seconds);
  return answers.filter(({ seconds }) => isStale(seconds)).map(({ node }) => node);
}

/**
 * The counts of each node whose two counts agree as far as they can: a nonce that is made up would never be mined, nor would any above it.
 */
async function readCounts(chain: Chain, nowMs: number): Promise<readonly Counts[]> {
  const [latest, pending] = await Promise.all([
    chain.accountNonces('latest', OPENING_PATIENCE_MS),
    chain.accountNonces('pending', OPENING_PATIENCE_MS),
  ]);
  const waiting = new Map(pending.map(({ node, count }) => [node, count]));
  const stale = latest.length === 2 && latest[0]?.count !== latest[1]?.count ? await listStale(chain, nowMs) : [];
  const answers = latest
    .filter(({ node }) => !stale.includes(node))
    .map(({ node, count }) => ({ latestNonce: count, pendingNonce: waiting.get(node) ?? -1 }));
  return answers.filter(({ latestNonce, pendingNonce: all }) => all >= latestNonce && all - latestNonce <= MAX_PENDING);
}

/** @throws RpcUnavailableError if all say nonsense, or two say different things and no journal knows better */
async function readNonces(chain: Chain, { journal, nowMs }: { journal: Journal; nowMs: number }): Promise<Counts> {
  const answers = await readCounts(chain, nowMs);
  if (answers.length === 0) throw new RpcUnavailableError('the account nonce is nonsense');
  const [latest, pending] = [
    answers.map(({ latestNonce }) => latestNonce),
    answers.map(({ pendingNonce }) => pendingNonce),
  ];
  const [one, other] = latest;
  if (latest.length === 2 && one !== other && journal.highestNonce() === undefined) {
    const reason = `of two nodes one says that the account has made ${one} transactions, the other ${other}`;
    throw new RpcUnavailableError(reason, { code: 'RPC_ANSWER_INVALID' });
  }
  return { latestNonce: leastAgreed(latest), pendingNonce: leastAgreed(pending) };
}

/** @returns what most nodes say, or the journal and one of them; undefined if none still has the first block, or nothing is agreed */
function chooseGenesis(
  { nodes }: Chain,
  { journal, answers }: { readonly journal: Journal; readonly answers: readonly (Hash | null)[] },
): Hash | undefined {
  const hashes = answers.filter((hash) => hash !== null);
  const known = hashes.find((hash) => hash === journal.fact('genesisHash'));
  const groups = [...Map.groupBy(hashes, (hash) => hash).values()];
  const [most = [], next = []] = groups.toSorted((one, other) => other.length - one.length);
  const isAgreed = most.length > next.length && most.length >= Math.min(MAJORITY, nodes);
  return known ?? (isAgreed ? most[0] : undefined);
}

function pinFact(journal: Journal, fact: { name: string; value: string; keptFor: string }): void {
  const first = journal.pinFact(fact.name, fact.value);
  if (first === fact.value) return;
  throw new SenderError(
    'WRONG_CHAIN',
    `The journal was kept for ${fact.keptFor} ${first}, not ${fact.value}; use another journal.`,
  );
}

/**
 * Makes sure that node, settings and journal speak of the same chain and key, and asks where the account stands.
 *
 * @returns the chain's id, and the account's transaction count, without and with what waits in the node
 * @throws SenderError `WRONG_CHAIN`, `RPC_UNAVAILABLE`
 */
export async function verifyChain(parts: {
  readonly chain: Chain;
  readonly journal: Journal;
  readonly options: Pick<SenderOptions, 'chainId' | 'account' | 'now'>;
  readonly patience: Timing;
}): Promise<{ chainId: number; latestNonce: number; pendingNonce: number }> {
  const { chain, journal, options, patience } = parts;
  const { now = Date.now } = options;
  const [chainId, genesisHashes, nonces] = await Promise.all([
    ask(chain.chainId, patience),
    ask(chain.genesisHashes, patience),
    ask(() => readNonces(chain, { journal, nowMs: now() }), patience),
  ]);
  if (options.chainId !== undefined && options.chainId !== chainId) {
    throw new SenderError('WRONG_CHAIN', `The node is of chain ${chainId}, not ${options.chainId}; check its URL.`);
  }
  pinFact(journal, { name: 'chainId', value: `${chainId}`, keptFor: 'chain' });
  pinFact(journal, { name: 'address', value: options.account.address.toLowerCase(), keptFor: 'the key of' });
  // A devnet that was started anew has the same id and another history.
  const genesisHash = chooseGenesis(chain, { journal, answers: genesisHashes });
  if (genesisHash !== undefined) {
    pinFact(journal, { name: 'genesisHash', value: genesisHash, keptFor: 'the chain whose first block is' });
  }
  return { chainId, ...nonces };
}
