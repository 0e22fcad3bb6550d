import { hash } from 'node:crypto';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import type { OpenState } from './lifecycle.ts';

/** How a request ended, as it is reported. */
export type Outcome =
  | { readonly status: 'success'; readonly txHash: Hex }
  | { readonly status: 'failed'; readonly errorMessage: string };

/** A request whose outcome is known. */
export interface Ended {
  readonly requestId: string;
  readonly outcome: Outcome;
}

/** What identifies one user's signed request on the chain; a multi-user batch has several. */
export interface SignatureRef {
  /** In lower case. */
  readonly signer: Hex;
  /** The forwarder nonce it was signed for; undefined where no nonce near the signer's fits. */
  readonly nonce: bigint | undefined;
  /** The halves of the signature, in lower case: they stand in the calldata of whatever transaction carries it. */
  readonly r: Hex;
  readonly s: Hex;
  /** Of a contract wallet that vouches for it: the hash of its code. @see readWallet */
  readonly code?: Hex;
}

/** What of a request its relayer needs. */
export type RelayedRecord = Pick<RequestRecord, 'requestId' | 'action' | 'signer' | 'params' | 'createdAt'>;

/** A request that this relayer has claimed, or is about to. */
export interface OpenRequest {
  readonly requestId: string;
  readonly state: OpenState;
  readonly record: RelayedRecord;
  readonly signatures: readonly SignatureRef[];
  /** Gas of its single transaction, estimated when it was checked; undefined where nothing is to be sent. */
  readonly gas: bigint | undefined;
  /** The sender's intent, once `submitted`. */
  readonly intentId: string | undefined;
  /** How often it has been handed to the sender, in earlier claims, too. */
  readonly attempts: number;
  /** Once `mined`. */
  readonly outcome: Outcome | undefined;
  /** Unix time in milliseconds. */
  readonly claimedAtMs: number;
}

/** A request as it enters the journal. */
export type BegunRequest = Omit<OpenRequest, 'state' | 'intentId' | 'outcome' | 'attempts'>;

/** A call handed to the sender, which may carry several requests. */
export interface Submission {
  readonly intentId: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  /** The most that any version of it may offer for a unit of gas, in wei: what the fees are worth. */
  readonly maxFeePerGas: bigint | undefined;
  /** When the lease of its oldest claim is over, in Unix milliseconds; undefined where claims do not lapse. */
  readonly expiresAtMs: number | undefined;
  readonly requestIds: readonly string[];
}

/** Takes the fingerprint of what a request asks for, signature and all: it is the same in each copy of a request. */
export function takeFingerprint({ action, params }: Pick<RelayedRecord, 'action' | 'params'>): string {
  // Letter case says nothing in hex.
  return hash('sha1', JSON.stringify([action, params]).toLowerCase(), 'base64');
}
