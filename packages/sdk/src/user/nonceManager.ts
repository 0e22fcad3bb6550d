import type { ForwarderLocation } from '@prism-gateway/protocol/typed-data';
import { isGatewayError } from '../errors/gatewayError.ts';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import { isEnded } from '../requests/waitForRequest.ts';
import { createNonceBook } from './nonceBook.ts';
import { listOpenRequests, matchNonces } from './readOpenNonces.ts';
import { createTurns } from './takeTurns.ts';

/** What a nonce manager is made of. */
export interface NonceManagerOptions {
  readonly gateway: GatewayClient;
  /** The signer's address. */
  readonly signer: string;
  readonly chainName: string;
  readonly domain: ForwarderLocation;
  /** @returns the signer's forwarder nonce on the chain */
  readonly readNonce: (signer: string) => Promise<bigint>;
  /** Age in seconds past which the Forwarder takes no request. */
  readonly maxAgeSeconds: number;
  /** How the signer signs: with a key, or as a contract wallet does. */
  readonly signatures: 'ecdsa' | 'erc1271';
  /** For how long the chain's word holds, in milliseconds: other devices may sign for the same account. */
  readonly trustMs: number;
}

/** What came of the use of a nonce. */
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
   */
  use<T>(act: (nonce: bigint) => Promise<NonceUse<T>>, signal?: AbortSignal): Promise<T>;
  /** Notes how a request ended. */
  settle(requestId: string, status: 'success' | 'failed'): void;
  /** Gives back a nonce that no request holds. */
  release(nonce: bigint): void;
  /** Has the chain and the gateway asked anew before the next use. */
  resync(): void;
}

/**
 * Makes the nonce manager of one signer on one Forwarder. Requests that are open when it starts, from an earlier visit or
 * another device, are found at the gateway.
 *
 * @see DECISIONS.md, "Nonce"
 */
export function createNonceManager(options: NonceManagerOptions): NonceManager {
  const { gateway, readNonce, signer, trustMs } = options;
  const { now } = gateway.transport;
  const book = createNonceBook();
  const takeTurn = createTurns();
  let syncedAt: number | undefined;

  /** Whether a request that no list has shown yet, since an index may lag, is open. */
  async function isOpen(requestId: string, signal?: AbortSignal): Promise<boolean> {
    try {
      return !isEnded(await gateway.getRequest(requestId, { signal }));
    } catch (error) {
      if (isGatewayError(error, 'NOT_FOUND')) return false;
      throw error;
    }
  }

  async function sync(signal?: AbortSignal): Promise<void> {
    const search = { ...options, signal };
    // In this order: what runs in between is by then counted by the chain, and not counted twice.
    const { open, seen } = await listOpenRequests(search);
    const nonce = await readNonce(signer);
    const matched = await matchNonces(search, { nonce, open, known: book.nonceOf });
    for (const requestId of book.openIds()) {
      const own = book.nonceOf(requestId);
      if (own === undefined || own < nonce || seen.has(requestId)) continue;
      if (await isOpen(requestId, signal)) matched.set(own, requestId);
    }
    book.reset({ nonce, open: matched });
  }

  async function syncWhereStale(signal?: AbortSignal): Promise<void> {
    if (syncedAt !== undefined && now() - syncedAt < trustMs) return;
    // Set before: what turns out stale in the meantime is asked for again.
    syncedAt = now();
    try {
      await sync(signal);
    } catch (error) {
      syncedAt = undefined;
      throw error;
    }
  }

  return {
    use: (act, signal) =>
      takeTurn(async () => {
        await syncWhereStale(signal);
        const nonce = book.reserve();
        try {
          const { value, requestId } = await act(nonce);
          if (requestId !== undefined) book.store(nonce, requestId);
          return value;
        } catch (error) {
          book.release(nonce);
          syncedAt = undefined;
          throw error;
        }
      }, signal),
    settle(requestId, status) {
      if (book.settle(requestId, status)) syncedAt = undefined;
    },
    release: book.release,
    resync() {
      syncedAt = undefined;
    },
  };
}
