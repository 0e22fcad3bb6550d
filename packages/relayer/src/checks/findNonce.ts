import type { RequestExecuted } from '@prism-gateway/contracts';
import type { RecoverSigner } from '@prism-gateway/node/accounts';
import type { Action, ActionParams } from '@prism-gateway/protocol';
import {
  createTypedData,
  hashForwarderDomain,
  type SignedAction,
  type TypedDataSource,
  type UnsignedParams,
} from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { concat, keccak256, numberToHex, padHex, toHex } from 'viem/utils';
import type { SignedRecord } from '../lifecycle/states.ts';

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
export function listSignedParts(record: SignedRecord): readonly SignedPart[] {
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

/** When its signatures were made, as they say; Unix seconds, one a signature. One by one: numbers would lose digits of a uint256. */
const listTimestamps = (record: SignedRecord) => listSignedParts(record).map(({ params }) => BigInt(params.timestamp));

/** The latest of them. */
export function latestTimestamp(record: SignedRecord): bigint {
  let latest = 0n;
  for (const timestamp of listTimestamps(record)) if (timestamp > latest) latest = timestamp;
  return latest;
}

/** The earliest of them: before it the Forwarder carries out nothing of the request. */
export function earliestTimestamp(record: SignedRecord): bigint {
  const [first = 0n, ...others] = listTimestamps(record);
  let earliest = first;
  for (const timestamp of others) if (timestamp < earliest) earliest = timestamp;
  return earliest;
}

/** Whether a request is too old: the one place that does. @returns the Forwarder's reason; undefined if a signature may still be taken */
export function findExpiryAt(
  record: SignedRecord,
  { maxAge, seconds }: { readonly maxAge: bigint; readonly seconds: bigint },
): string | undefined {
  const ends = listTimestamps(record).map((timestamp) => timestamp + maxAge);
  return ends.every((end) => end < seconds) ? `RequestExpired(${ends[0]})` : undefined;
}

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
  // The typed data leave out fields that no struct has (signer, signature, permit).
  const hashWith = createRequestHasher({ action, params: params as UnsignedParams, chainId, forwarder });
  return async (nonce) => (await recoverSigner({ digest: hashWith(nonce), v: params.v, r, s })) === signer;
}

/** Nonces from one on, up to another exclusively. */
export interface NonceRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Bounds the nonces that a request is looked for with. */
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
 * @returns undefined if none near it fits: a bad signature, or a contract wallet's
 * @see docs/specification.md CHAIN-5
 */
export async function findNonce(
  source: NonceContext & { readonly part: SignedPart; readonly current: bigint },
): Promise<bigint | undefined> {
  const isSignedFor = createSignatureTest(source, source.part);
  for (const nonce of listNear(source.current)) if (await isSignedFor(nonce)) return nonce;
  return undefined;
}

/** Whether an event of the Forwarder is about one signature of a request. */
type IsAbout = (event: Pick<RequestExecuted, 'digest' | 'signer' | 'nonce'>) => boolean;

/**
 * Makes the test whether an event shows a signature: by the signer, and by the digest of that very request with the event's nonce.
 * Nothing else counts: anybody may put the same bytes of a signature into another call.
 *
 * @see docs/specification.md CHAIN-12
 */
export function createExecutionTest(
  { chainId, forwarder }: Pick<NonceContext, 'chainId' | 'forwarder'>,
  { action, params, signer }: SignedPart,
): IsAbout {
  // The typed data leave out fields that no struct has (signer, signature, permit).
  const hashWith = createRequestHasher({ action, params: params as UnsignedParams, chainId, forwarder });
  return (event) => event.signer.toLowerCase() === signer && hashWith(event.nonce) === event.digest.toLowerCase();
}

/** EIP-712's `encodeData` of one field: a word; of what has no fixed length, its hash. */
function encodeField(type: string, value: unknown): Hex {
  // The typed data vouches for the types.
  if (type === 'uint256') return numberToHex(value as bigint, { size: 32 });
  if (type === 'bytes') return keccak256(value as Hex);
  if (type === 'bytes[]') return keccak256(concat((value as readonly Hex[]).map((item) => keccak256(item))));
  if (type === 'bytes32[]') return keccak256(concat(value as readonly Hex[]));
  return padHex(value as Hex, { size: 32 });
}

/**
 * Makes the EIP-712 digest of a request as a function of its forwarder nonce, which is the last field of every struct: what stands
 * before it, such as a long payload, is hashed once.
 *
 * @returns digests as `hashRequest` computes them
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function createRequestHasher(source: Omit<TypedDataSource, 'nonce'>): (nonce: bigint) => Hex {
  const { types, primaryType, message } = createTypedData({ ...source, nonce: 0n });
  const fields = types[primaryType] ?? [];
  const members = fields.map(({ name, type }) => `${type} ${name}`).join(',');
  const words = fields.slice(0, -1).map(({ name, type }) => encodeField(type, message[name]));
  const start = concat([keccak256(toHex(`${primaryType}(${members})`)), ...words]);
  const prefix = concat(['0x1901', hashForwarderDomain(source)]);
  return (nonce) => keccak256(concat([prefix, keccak256(concat([start, numberToHex(nonce, { size: 32 })]))]));
}
