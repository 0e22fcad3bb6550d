import type { Hex } from 'viem';
import type { RelayedRecord, SignatureRef } from '../lifecycle/states.ts';
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
  /** The state of each signature. */
  signatures(): readonly SignatureRef[];
  /** Tries the nonce that each signature has to have to be in its turn: one recovery each. */
  tryNext(context: NonceContext, nonces: Nonces): Promise<void>;
  /** Tries the few nonces that follow the signers' own for what was not found: whoever signs several in a row has signed one of these. */
  tryFew(context: NonceContext, nonces: Nonces): Promise<void>;
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

function* listRange({ from, to }: NonceRange): Generator<bigint> {
  for (let nonce = from; nonce < to; nonce += 1n) yield nonce;
}

/** How many nonces are tried for every request, before any is looked for further. */
const FEW = 4n;

const only = (nonce: bigint): NonceRange => ({ from: nonce, to: nonce + 1n });

/**
 * Begins a search.
 *
 * @param known - what an earlier search has found, in the order of the signatures
 */
export function createNonceSearch(record: RelayedRecord, known: readonly SignatureRef[] = []): NonceSearch {
  const found = known.map(({ nonce }) => nonce);
  const tried: (NonceRange | undefined)[] = [];
  // Not kept: the queue may be long.
  const parts = () => listSignedParts(record);
  const isOpen = (index: number, range: NonceRange) => found[index] === undefined && !covers(tried[index], range);
  /** Tries what was not tried yet of a range. @returns how many were tried */
  async function tryAll(
    isSignedFor: (nonce: bigint) => Promise<boolean>,
    search: { readonly index: number; readonly range: NonceRange; readonly order?: Iterable<bigint> },
  ): Promise<number> {
    const { index, range, order = listRange(range) } = search;
    let tries = 0;
    for (const nonce of order) {
      if (covers(tried[index], only(nonce))) continue;
      tries += 1;
      if (!(await isSignedFor(nonce))) continue;
      found[index] = nonce;
      break;
    }
    tried[index] = join(tried[index], range);
    return tries;
  }
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
    async tryFew(context, nonces) {
      for (const [index, part] of parts().entries()) {
        const from = nonces.get(part.signer) ?? 0n;
        const range = { from, to: from + FEW };
        if (isOpen(index, range)) await tryAll(createSignatureTest(context, part), { index, range });
      }
    },
    async lookAround(context, { nonces, maxTries }) {
      let tries = 0;
      for (const [index, part] of parts().entries()) {
        const current = nonces.get(part.signer) ?? 0n;
        if (!isOpen(index, nearRange(current))) continue;
        if (tries >= maxTries) break;
        const isSignedFor = createSignatureTest(context, part);
        tries += await tryAll(isSignedFor, { index, range: nearRange(current), order: listNear(current) });
      }
      return tries;
    },
    isDone: (nonces) => !parts().some(({ signer }, index) => isOpen(index, nearRange(nonces.get(signer) ?? 0n))),
  };
}
