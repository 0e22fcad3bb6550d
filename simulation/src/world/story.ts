import type { GatewayClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';

/** The required end of a request. */
export type Expectation =
  /** It is valid, and its fee pays: `success`. */
  | 'success'
  /** It can never succeed: `failed`. */
  | 'failed'
  /** Either, as when its signer takes it back or posts it twice. */
  | 'either';

/** An entry of a batch of several users, which uses a nonce of its signer. */
export interface SignedEntry {
  readonly signer: Hex;
  readonly digest: Hex;
  readonly nonce: bigint;
  readonly cloudId: Hex;
}

/** One request that somebody posted, and what is known of it. */
export interface Story {
  readonly requestId: string;
  /** As it was posted. */
  readonly body: Parameters<GatewayClient['submitRequest']>[0];
  /** Which part of a user's life it is from, like `pair` or `low fee`. */
  readonly kind: string;
  readonly signer: Hex;
  /** EIP-712 digest; undefined: junk without a meaning. */
  readonly digest: Hex | undefined;
  /** Of a batch of several users: all that were signed for it. One that is written makes it a success (RELAY-6). */
  readonly entries?: readonly SignedEntry[];
  readonly nonce: bigint;
  /** The prism that it is about, if it is about one alone. */
  readonly cloudId?: Hex | undefined;
  /** Credits in base units. */
  readonly fee: bigint;
  /** Gas that it takes, with room to spare. */
  readonly gas: bigint;
  readonly postedAtMs: number;
  expects: Expectation;
  /** The end as things stand; undefined: it waits. */
  outlook: 'success' | 'failed' | undefined;
  /** As the gateway said last. */
  status: 'pending' | 'processing' | 'success' | 'failed';
  claimedBy: string | undefined;
  /** Of its claim, in Unix milliseconds; undefined: there was none. */
  claimedAtMs: number | undefined;
  txHash: string | undefined;
  errorMessage: string | undefined;
  endedAtMs: number | undefined;
  /** How long it has been pending although nothing stood in its way, in milliseconds. */
  pendingCalmMs: number;
  /** How long it has not ended although nothing stood in its way, in milliseconds. */
  openCalmMs: number;
}

/** What is known of a request that was just posted. */
export const UNKNOWN = {
  ...{ status: 'pending', claimedBy: undefined, claimedAtMs: undefined, txHash: undefined, errorMessage: undefined },
  ...{ outlook: undefined, endedAtMs: undefined, pendingCalmMs: 0, openCalmMs: 0 },
} as const satisfies Partial<Story>;

/** All requests of the world, by id. */
export type Stories = Map<string, Story>;

/** Something that must hold does not. */
export interface Breach {
  /** Name of the invariant, like `liveness`. */
  readonly invariant: string;
  /** The event, in a sentence. */
  readonly text: string;
  /** Request, payment or relayer that it is about; its story is printed. */
  readonly about: string;
  readonly atMs: number;
}
