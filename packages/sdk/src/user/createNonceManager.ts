import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '../errors/gatewayError.ts';
import { untilAborted } from '../http/signals.ts';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import { isEnded } from '../requests/waitForRequest.ts';
import { createNonceBook } from './createNonceBook.ts';
import { createNonceSearch, type SignatureCheck } from './createNonceSearch.ts';

/** For how long after a request was made a list may lack it, in milliseconds: an index may lag, and clocks differ. */
const LIST_LAG_MS = 60_000;

/** Open requests of unknown nonces that are kept: as many as one walk sees. */
const MOST_OPEN = 1000;

/** Options of a nonce manager. */
export interface NonceManagerOptions extends RequestSearch, SignatureCheck {
  /** @returns the signer's forwarder nonce on the chain */
  readonly readNonce: (signer: string) => Promise<bigint>;
  /** For how long the chain's word holds, in milliseconds: other devices may sign for the same account. */
  readonly trustMs: number;
}

/** The result of using a nonce. */
export interface NonceUse<T> {
  readonly value: T;
  /** The request that holds the nonce from now on, if any. */
  readonly requestId?: string;
}

/** Hands out a signer's forwarder nonces in order. */
export interface NonceManager {
  /**
   * Runs an act with the next free nonce; one act at a time, so that nonces reach the gateway in order. When the act throws, the
   * chain and the gateway are asked anew before the next.
   *
   * @param options.nonce - one that a request has already, to be used in place of the next
   */
  use<T>(
    act: (nonce: bigint) => Promise<NonceUse<T>>,
    options: { readonly signal?: AbortSignal | undefined; readonly nonce?: bigint | undefined },
  ): Promise<T>;
  /** Notes how a request ended. */
  settle(requestId: string, status: 'success' | 'failed'): void;
  /** Gives back a nonce that no request holds. */
  release(nonce: bigint): void;
  /** Has the chain and the gateway asked anew before the next use. */
  resync(): void;
}

/** Lets one at a time through, in the order of asking. */
type Turns = <T>(act: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Makes a queue of turns.
 *
 * @returns a function that runs an act once all earlier ones have ended; it throws GatewayError ABORTED at once if the signal
 * fires before. An act under way sees its signal for itself, and knows how far it has come.
 */
function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (act, signal) => {
    const turn = untilAborted('The wait for a turn to sign', last, signal).then(act);
    // Whoever has given up leaves those before in their turn; `then` lets go of their results.
    last = Promise.allSettled([last, turn]).then(() => {});
    return turn;
  };
}

/**
 * Makes the nonce manager of one signer on one Forwarder. Requests that are open when it starts, from an earlier visit or
 * another device, are found at the gateway.
 *
 * @see docs/specification.md CHAIN-5
 */
export function createNonceManager(options: NonceManagerOptions): NonceManager {
  const { gateway, readNonce, signer, trustMs } = options;
  const { now } = gateway.transport;
  const book = createNonceBook();
  const takeTurn = createTurns();
  const { open, find } = createNonceSearch(options);
  let trustedUntilMs = 0;
  let sinceMs = 0;
  // A list that is under way may show them as they were.
  const settled = new Set<string>();

  /** Reads a request that a list has not shown. */
  function readUnseen(requestId: string, signal?: AbortSignal): Promise<RequestRecord | undefined> {
    return gateway.getRequest(requestId, { signal }).catch((error: unknown) => {
      if (!isGatewayError(error, 'NOT_FOUND')) throw error;
      return undefined;
    });
  }

  async function sync(signal?: AbortSignal): Promise<void> {
    // In this order: what runs in between is by then counted by the chain, and not counted twice.
    const { seen, newestMs } = await listRecent(options, { sinceMs, signal });
    const nonce = await untilAborted('Reading the nonce', readNonce(signer), signal);
    const holders = book.requests().map(async ([own, requestId]) => {
      const record = seen.has(requestId) ? seen.get(requestId) : await readUnseen(requestId, signal);
      if (!record || !isOpenHere(options, record)) book.release(own);
    });
    await Promise.all(holders);
    for (const [requestId, record] of open) if (!isOpenHere(options, record)) open.delete(requestId);
    // Oldest first.
    for (const [requestId, record] of [...seen].reverse()) {
      if (record && !settled.has(requestId) && book.nonceOf(requestId) === undefined) open.set(requestId, record);
      else open.delete(requestId);
    }
    for (const requestId of [...open.keys()].slice(0, -MOST_OPEN)) open.delete(requestId);
    sinceMs = newestMs - LIST_LAG_MS;
    settled.clear();
    book.reset(nonce, now());
  }

  return {
    use: (act, { signal, nonce: given }) =>
      takeTurn(async () => {
        if (given !== undefined) {
          const { value, requestId } = await act(given);
          if (requestId !== undefined) book.store(given, requestId);
          return value;
        }
        // None yet.
        let nonce = -1n;
        try {
          if (now() >= trustedUntilMs) {
            // Set before: what turns out stale in the meantime is asked for again.
            trustedUntilMs = now() + trustMs;
            await sync(signal);
          }
          for (let holder: string | undefined = ''; holder !== undefined; ) {
            nonce = book.reserve();
            holder = await find(nonce, signal);
            if (holder !== undefined) book.store(nonce, holder);
          }
          const { value, requestId } = await act(nonce);
          if (requestId !== undefined) book.store(nonce, requestId);
          return value;
        } catch (error) {
          book.release(nonce);
          trustedUntilMs = 0;
          throw error;
        }
      }, signal),
    settle(requestId, status) {
      settled.add(requestId);
      open.delete(requestId);
      if (book.settle(requestId, status)) trustedUntilMs = 0;
    },
    release: book.release,
    resync() {
      trustedUntilMs = 0;
    },
  };
}

/** Whose requests are looked for, and where. */
interface RequestSearch {
  readonly gateway: GatewayClient;
  readonly signer: string;
  readonly chainName: string;
  /** Age in seconds past which the Forwarder takes no request any more, so that it holds no nonce. */
  readonly maxAgeSeconds: number;
}

const PAGE_SIZE = 100;
/** Bounds memory and time if strangers post in a signer's name: what lies behind is not seen. */
const MOST_PAGES = 10;

/** Unix time in milliseconds before which a request has to have been made to be too old for the Forwarder. */
function oldestMs({ gateway, maxAgeSeconds }: RequestSearch): number {
  return gateway.transport.now() - maxAgeSeconds * 1000;
}

/** Whether a request may hold a nonce here: not one of another chain, nor a batch, whose entries are signed by others. */
function isOpenHere(search: RequestSearch, record: RequestRecord): boolean {
  return (
    !isEnded(record) &&
    record.chainName === search.chainName &&
    record.action !== 'BATCH_MULTI_USER_WRITE_DATA' &&
    Number(record.params.timestamp) * 1000 >= oldestMs(search)
  );
}

/**
 * Lists a signer's requests, newest first, page by page: back to those that are too old for the Forwarder, or that an earlier
 * walk has seen, and no further than 10 pages.
 *
 * @param walk.sinceMs - Unix time in milliseconds; older ones are known
 * @returns `seen`: all that were looked at by their ids, without the record if it is not open here; `newestMs`: Unix time
 * in milliseconds when the newest was made
 * @throws GatewayError
 */
async function listRecent(
  search: RequestSearch,
  walk: { readonly sinceMs: number; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly seen: Map<string, RequestRecord | undefined>; readonly newestMs: number }> {
  const { gateway, signer } = search;
  const { signal } = walk;
  const sinceMs = Math.max(walk.sinceMs, oldestMs(search));
  const seen = new Map<string, RequestRecord | undefined>();
  let [pagesLeft, newestMs] = [MOST_PAGES, walk.sinceMs];
  for await (const { items } of gateway.listRequests({ signer, order: 'desc', limit: PAGE_SIZE }, { signal }).pages()) {
    let madeAtMs = Infinity;
    for (const record of items) {
      madeAtMs = Date.parse(record.createdAt);
      newestMs = Math.max(newestMs, madeAtMs);
      seen.set(record.requestId, isOpenHere(search, record) ? record : undefined);
    }
    if (madeAtMs < sinceMs || --pagesLeft === 0) break;
  }
  return { seen, newestMs };
}
