import type { Hex } from 'viem';
import type { RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';
import {
  createSignatureTest,
  listNear,
  listSignedParts,
  type NonceContext,
  type NonceRange,
  nearRange,
} from './findNonce.ts';

/** The chain's forwarder nonce of each signer, by address in lower case. */
type Nonces = ReadonlyMap<Hex, bigint>;

/**
 * The forwarder nonces that the signatures of a request were made with, as far as they have been looked for. What was found, and
 * what was tried in vain, is remembered: no signature is recovered twice with the same nonce.
 */
export interface NonceSearch {
  /** What is known of each signature. */
  signatures(): readonly SignatureRef[];
  /** Tries the nonce that each signature has to have to be in its turn: one recovery each. */
  tryNext(context: NonceContext, nonces: Nonces): Promise<void>;
  /** Tries all nonces near the signers' own for what was not found. @returns how many were tried, hardly more than `maxTries` */
  lookAround(context: NonceContext, search: { readonly nonces: Nonces; readonly maxTries: number }): Promise<number>;
  /** Whether each nonce is found, or not near the signer's own. */
  isDone(nonces: Nonces): boolean;
}

function covers(outer: NonceRange | undefined, { from, to }: NonceRange): boolean {
  return outer !== undefined && outer.from <= from && to <= outer.to;
}

function join(one: NonceRange | undefined, other: NonceRange): NonceRange {
  if (one === undefined || one.to < other.from || other.to < one.from) return other;
  const { from } = one.from < other.from ? one : other;
  const { to } = one.to > other.to ? one : other;
  return { from, to };
}

const only = (nonce: bigint): NonceRange => ({ from: nonce, to: nonce + 1n });

/**
 * Begins a search.
 *
 * @param record - the request
 * @param known - what an earlier search has found, in the order of the signatures
 */
export function createNonceSearch(record: RelayedRecord, known: readonly SignatureRef[] = []): NonceSearch {
  const found = known.map(({ nonce }) => nonce);
  const tried: (NonceRange | undefined)[] = [];
  // Not kept: the queue may be long.
  const parts = () => listSignedParts(record);
  const isOpen = (index: number, range: NonceRange) => found[index] === undefined && !covers(tried[index], range);
  return {
    signatures: () => parts().map(({ signer, r, s }, index) => ({ signer, nonce: found[index], r, s })),
    async tryNext(context, nonces) {
      const next = new Map(nonces);
      for (const [index, part] of parts().entries()) {
        const nonce = next.get(part.signer) ?? 0n;
        if (isOpen(index, only(nonce))) {
          if (await createSignatureTest(context, part)(nonce)) found[index] = nonce;
          else tried[index] = join(tried[index], only(nonce));
        }
        if (found[index] === nonce) next.set(part.signer, nonce + 1n);
      }
    },
    async lookAround(context, { nonces, maxTries }) {
      let tries = 0;
      for (const [index, part] of parts().entries()) {
        const current = nonces.get(part.signer) ?? 0n;
        if (!isOpen(index, nearRange(current))) continue;
        if (tries >= maxTries) break;
        const isSignedFor = createSignatureTest(context, part);
        for (const nonce of listNear(current)) {
          if (covers(tried[index], only(nonce))) continue;
          tries += 1;
          if (!(await isSignedFor(nonce))) continue;
          found[index] = nonce;
          break;
        }
        tried[index] = join(tried[index], nearRange(current));
      }
      return tries;
    },
    isDone: (nonces) => !parts().some(({ signer }, index) => isOpen(index, nearRange(nonces.get(signer) ?? 0n))),
  };
}
