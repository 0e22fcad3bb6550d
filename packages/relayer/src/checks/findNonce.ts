import type { Action, ActionParams } from '@prism-gateway/protocol';
import { hashRequest, type SignedAction, type UnsignedParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import type { RecoverSigner } from '../crypto/recoverSigner.ts';
import type { RelayedRecord } from '../life/openRequest.ts';

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

/** Nonces in the order in which they are likely: the next one, those ahead, those behind. */
function* likelyNonces(current: bigint): Generator<bigint> {
  for (let nonce = current; nonce < current + LOOK_AHEAD; nonce += 1n) yield nonce;
  for (let nonce = current - 1n; nonce >= 0n && nonce >= current - LOOK_BACK; nonce -= 1n) yield nonce;
}

/** What a recovery works with. */
interface NonceSource {
  readonly part: SignedPart;
  readonly chainId: number;
  readonly forwarder: Hex;
  readonly recoverSigner: RecoverSigner;
}

/** Tells whether a signature is its signer's over the request with this forwarder nonce. */
export async function isSignedFor(source: NonceSource & { readonly nonce: bigint }): Promise<boolean> {
  const { part, nonce, chainId, forwarder, recoverSigner } = source;
  const { action, params, signer, r, s } = part;
  // What no struct holds (signer, signature, permit) is left out by the typed data.
  const digest = hashRequest({ action, params: params as UnsignedParams, nonce, chainId, forwarder });
  return (await recoverSigner({ digest, v: params.v, r, s })) === signer;
}

/**
 * Finds the forwarder nonce that a request was signed for, by recovering the signer with one nonce after the other.
 *
 * @param source.current - the signer's forwarder nonce on the chain
 * @returns undefined where none near it fits: a bad signature, or a contract wallet's
 * @see DECISIONS.md, "Typed data" and "Nonce"
 */
export async function findNonce(source: NonceSource & { readonly current: bigint }): Promise<bigint | undefined> {
  for (const nonce of likelyNonces(source.current)) if (await isSignedFor({ ...source, nonce })) return nonce;
  return undefined;
}
