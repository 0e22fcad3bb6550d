import type { RequestRecord } from '@prism-gateway/protocol';
import type { ForwarderLocation, SignedAction, SignedRequest } from '@prism-gateway/protocol/typed-data';
import { sleep } from '../http/sleep.ts';
import { untilAborted } from '../http/untilAborted.ts';

/** A check takes some 4 ms: a page stays responsive, and an abort is heard. */
const CHECKS_A_TURN = 20;

/** How signatures are checked. */
export interface SignatureCheck {
  readonly domain: ForwarderLocation;
  /** Whether the signer has signed this very request, nonce included. */
  readonly isSigned: (request: SignedRequest) => Promise<boolean>;
}

/** Open requests that name the signer, and whose nonces are not known: some may be forged. */
export interface NonceSearch {
  readonly open: Map<string, RequestRecord>;
  /** Finds the request that holds a nonce, and takes it out. @throws GatewayError ABORTED */
  find(nonce: bigint, signal?: AbortSignal): Promise<string | undefined>;
}

/**
 * Makes a search. A record does not say which nonce it was signed with, but it can be checked for any one. Nonces are asked for
 * one by one, as they are needed: a stranger's records, which fit none, then cost one check each for a new nonce, and no gap is
 * too long to find what is behind it.
 */
export function createNonceSearch({ domain, isSigned }: SignatureCheck): NonceSearch {
  const open = new Map<string, RequestRecord>();
  // What did not fit the nonce that was asked for last: a signer who refuses a wallet's prompt comes back for the same.
  let refuted = new Set<string>();
  let askedLast: bigint | undefined;

  function fits({ action, params }: RequestRecord, nonce: bigint): Promise<boolean> {
    // Multi-user batches are left out, and a record's params are its action's.
    return isSigned({ ...domain, action: action as SignedAction, params: params as SignedRequest['params'], nonce });
  }

  return {
    open,
    async find(nonce, signal) {
      if (nonce !== askedLast) refuted = new Set();
      askedLast = nonce;
      for (const [requestId, record] of open) {
        if (refuted.has(requestId)) continue;
        if ((refuted.size + 1) % CHECKS_A_TURN === 0) await sleep(0, signal);
        const isFit = await untilAborted('The search for open requests', fits(record, nonce), signal);
        // It may have ended in the meantime.
        const isOpen = open.delete(requestId);
        if (isFit) return requestId;
        // To the end: nonces mostly go in order, so the next one is likely to be that of the request after the one found.
        if (isOpen) open.set(requestId, record);
        refuted.add(requestId);
      }
      return undefined;
    },
  };
}
