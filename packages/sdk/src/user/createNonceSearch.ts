import type { RequestRecord } from '@prism-gateway/protocol';
import type { ForwarderLocation, SignedAction, SignedRequest } from '@prism-gateway/protocol/typed-data';
import { sleep, untilAborted } from '../http/signals.ts';

/** A check takes some 4 ms: a page stays responsive, and an abort is heard. */
const CHECKS_A_TURN = 20;

/** How signatures are checked. */
export interface SignatureCheck {
  readonly domain: ForwarderLocation;
  /** Whether the signer has signed this very request, nonce included. */
  readonly isSigned: (request: SignedRequest) => Promise<boolean>;
  /** Most checks for one nonce that find nothing: what strangers post in a signer's name costs no more. */
  readonly mostChecks: number;
}

/** Open requests that name the signer, and whose nonces are not known: most may be forged. */
export interface NonceSearch {
  /** Oldest first. */
  readonly open: Map<string, RequestRecord>;
  /** Finds the request that holds a nonce, and takes it out. @throws GatewayError ABORTED */
  find(nonce: bigint, signal?: AbortSignal): Promise<string | undefined>;
}

/**
 * Makes a search. A record does not say which nonce it was signed with, but it can be checked for any one. Nonces are asked for
 * one by one, as they are needed, and a nonce's holder is looked for where it most likely is: behind the one found last, since
 * nonces mostly go in order; else from both ends inwards, since strangers post before or after. What they post cannot be distinguished from
 * the signer's own but by a check, so that their number is bounded, and what lies deeper among them is not found.
 */
export function createNonceSearch({ domain, isSigned, mostChecks }: SignatureCheck): NonceSearch {
  const open = new Map<string, RequestRecord>();
  // Signatures that did not fit the nonce asked for last: a signer who refuses a wallet's prompt comes back for the same.
  let refuted = new Set<string>();
  let askedLast: bigint | undefined;
  let likely: string | undefined;

  function fits({ action, params }: RequestRecord, nonce: bigint): Promise<boolean> {
    // Multi-user batches are left out, and a record's params are its action's.
    return isSigned({ ...domain, action: action as SignedAction, params: params as SignedRequest['params'], nonce });
  }

  return {
    open,
    async find(nonce, signal) {
      if (nonce !== askedLast) refuted = new Set();
      askedLast = nonce;
      const ids = [...open.keys()];
      const order = [likely, ...ids.flatMap((id, index) => [id, ids.at(-1 - index)])];
      let checks = 0;
      for (const requestId of order as string[]) {
        const record = open.get(requestId);
        if (!record || refuted.has(requestId)) continue;
        if (++checks > mostChecks) break;
        if (checks % CHECKS_A_TURN === 0) await sleep(0, signal);
        if (await untilAborted('The search for open requests', fits(record, nonce), signal)) {
          likely = ids[ids.indexOf(requestId) + 1];
          open.delete(requestId);
          return requestId;
        }
        refuted.add(requestId);
      }
      return undefined;
    },
  };
}
