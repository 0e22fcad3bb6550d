import type { RecoverSigner } from '@prism-gateway/crypto/accounts';
import type { Action, ActionParams } from '@prism-gateway/protocol';
import type { SignedAction, UnsignedParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';
import { createRequestHasher } from './createRequestHasher.ts';

/** How many nonces from the signer's next one on are tried, and how many before it. */
const LOOK_AHEAD = 64n;
const LOOK_BACK = 64n;

/** One signature of a request: what was signed, and the fields of the signature. */
export interface SignedPart {
  readonly action: SignedAction;
  readonly params: ActionParams<SignedAction>;
  /** In lower case. */
  readonly signer: Hex;
  readonly r: Hex;
  readonly s: Hex;
}

/** Lists the signatures of a request: one, or one an entry of a multi-user batch. */
export function listSignedParts(record: Pick<RelayedRecord, 'action' | 'params'>): readonly SignedPart[] {
  const part = (action: SignedAction, params: ActionParams<SignedAction>): SignedPart => ({
    action,
    params,
    // The gateway's schema has seen that these are hex.
    signer: params.signer.toLowerCase() as Hex,
    r: params.r.toLowerCase() as Hex,
    s: params.s.toLowerCase() as Hex,
  });
  const action: Action = record.action;
  // Action and params go together in a record.
  if (action !== 'BATCH_MULTI_USER_WRITE_DATA') return [part(action, record.params as ActionParams<SignedAction>)];
  const { requests } = record.params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  return requests.map((entry) => part('WRITE_DATA_FOR', entry));
}

/** What a recovery works with. */
export interface NonceContext {
  readonly chainId: number;
  /** Address of the Forwarder. */
  readonly forwarder: Hex;
  readonly recoverSigner: RecoverSigner;
}

/** Makes the test whether a signature is its signer's over the request with some forwarder nonce. */
export function createSignatureTest(
  { chainId, forwarder, recoverSigner }: NonceContext,
  { action, params, signer, r, s }: SignedPart,
): (nonce: bigint) => Promise<boolean> {
  // What no struct holds (signer, signature, permit) is left out by the typed data.
  const hashWith = createRequestHasher({ action, params: params as UnsignedParams, chainId, forwarder });
  return async (nonce) => (await recoverSigner({ digest: hashWith(nonce), v: params.v, r, s })) === signer;
}

/** Nonces from one on, up to another exclusively. */
export interface NonceRange {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Bounds the nonces that a request is looked for with.
 *
 * @param current - the signer's forwarder nonce on the chain
 */
export function nearRange(current: bigint): NonceRange {
  return { from: current > LOOK_BACK ? current - LOOK_BACK : 0n, to: current + LOOK_AHEAD };
}

/** Lists the nonces near the signer's own in the order in which they are likely: the next one, those ahead, those behind. */
export function* listNear(current: bigint): Generator<bigint> {
  const { from, to } = nearRange(current);
  for (let nonce = current; nonce < to; nonce += 1n) yield nonce;
  for (let nonce = current - 1n; nonce >= from; nonce -= 1n) yield nonce;
}

/**
 * Finds the forwarder nonce that a request was signed for, by recovering the signer with one nonce after the other.
 *
 * @param source.current - the signer's forwarder nonce on the chain
 * @returns undefined where none near it fits: a bad signature, or a contract wallet's
 * @see docs/specification.md CHAIN-5
 */
export async function findNonce(
  source: NonceContext & { readonly part: SignedPart; readonly current: bigint },
): Promise<bigint | undefined> {
  const isSignedFor = createSignatureTest(source, source.part);
  for (const nonce of listNear(source.current)) if (await isSignedFor(nonce)) return nonce;
  return undefined;
}
