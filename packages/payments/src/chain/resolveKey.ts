import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@prism-gateway/node/logs';
import type { Sender } from '@prism-gateway/sender';
import type { Address, PublicClient } from 'viem';
import type { TransferTable } from '../journal/createTransferTable.ts';
import type { KeyWatch } from './createKeyWatch.ts';
import type { TransferSearch } from './createTransferSearch.ts';

/** The result of a look. */
interface Look {
  readonly headBlock: number;
  readonly atMs: number;
  readonly nonce: number;
  /** Payouts of this address on the chain. */
  readonly payouts: string;
}

/** The parts of settling. */
export interface ResolveParts {
  readonly client: PublicClient;
  readonly sender: Pick<Sender, 'inFlight'>;
  readonly search: TransferSearch;
  readonly transfers: TransferTable;
  readonly watch: KeyWatch;
  readonly self: Address;
  readonly log: Logger;
  /** Between two looks on a chain that makes no blocks, in milliseconds. */
  readonly standMs: number;
  readonly pollIntervalMs: number;
  /** @throws SearchStartError if the search begins after what the journal does not know */
  readonly checkStart: () => Promise<void>;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly signal: AbortSignal;
  /** Called with the reason while it waits. */
  readonly onWait: (reason: string) => void;
  /** Called when two looks do not agree: why not. */
  readonly onDisagreement: (reason: string) => void;
}

/** Blocks between the two looks that must agree. */
const BLOCKS_APART = 3;

/** Whether nothing of the key's waits to be mined. @returns the account nonce then */
async function readQuietNonce({ client, sender, self, onWait }: ResolveParts): Promise<number | undefined> {
  const [latest, pending] = await Promise.all([
    client.getTransactionCount({ address: self, blockTag: 'latest' }),
    client.getTransactionCount({ address: self, blockTag: 'pending' }),
  ]);
  if (pending === latest && sender.inFlight() === 0) return latest;
  onWait(`${Math.max(pending - latest, sender.inFlight())} transactions of ${self} wait to be mined.`);
  return undefined;
}

/** Searches everything from the beginning. */
async function look({ search, transfers, self, monotonicNow }: ResolveParts, nonce: number): Promise<Look> {
  const atMs = monotonicNow();
  search.startOver();
  const { headBlock } = await search.search();
  const payouts = transfers.listPayoutsBy(self).map(({ txHash, blockNumber }) => `${txHash} ${blockNumber}`);
  return { headBlock, atMs, nonce, payouts: payouts.join() };
}

/** Whether it is time for the second look. */
async function isApart({ client, standMs, monotonicNow }: ResolveParts, first: Look): Promise<boolean> {
  const headBlock = Number(await client.getBlockNumber({ cacheTime: 0 }));
  if (headBlock <= first.headBlock) return monotonicNow() - first.atMs >= standMs;
  return headBlock - first.headBlock >= BLOCKS_APART;
}

/**
 * Finds out what a key has done whose journal is empty or was lost: waits until none of its transactions waits to be mined, and searches
 * the chain twice, some blocks apart, until both looks agree. Until then nothing is begun.
 *
 * @throws viem's errors; NodeBehindError; the signal's reason
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export async function resolveKey(parts: ResolveParts): Promise<void> {
  const { watch, log, signal, pollIntervalMs } = parts;
  let first: Look | undefined;
  await parts.checkStart();
  while (watch.state() === 'unresolved') {
    signal.throwIfAborted();
    const nonce = await readQuietNonce(parts);
    if (nonce === undefined) first = undefined;
    else if (first === undefined) first = await look(parts, nonce);
    else if (await isApart(parts, first)) {
      const second = await look(parts, nonce);
      if (first.nonce === second.nonce && first.payouts === second.payouts) {
        watch.resolve(second.nonce);
        log.info({ nextNonce: second.nonce, headBlock: second.headBlock }, 'two looks at the chain agree');
        return;
      }
      parts.onDisagreement(
        first.nonce === second.nonce
          ? 'Two looks at the logs do not agree: the node is behind.'
          : `${parts.self} has made ${second.nonce - first.nonce} transactions between two looks, and this process none.`,
      );
      first = second;
    }
    await pause(pollIntervalMs, undefined, { signal });
  }
}
