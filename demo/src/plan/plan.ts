import type { Action } from '@prism-gateway/protocol';
import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import type { ActionInput } from '@prism-gateway/sdk';
import type { Address, Hex } from 'viem';

/** One wish of one user, not signed yet. */
export interface Step {
  /** Index of the user. */
  readonly user: number;
  readonly action: SignedAction;
  /** A creation's permit is signed when it is submitted. */
  readonly wish: ActionInput;
}

/** Part of the plan; the steps of one user run in their order, users run side by side. */
export type Stage =
  | { readonly kind: 'own'; readonly steps: readonly Step[] }
  /** One request that holds a write of each user, each signed by that user. */
  | { readonly kind: 'multiUserBatch'; readonly writes: readonly Step[] };

/** What a prism must be like at the end. */
export interface ExpectedPrism {
  readonly cloudId: Hex;
  owner: Address;
  /** Credits in base units. */
  balance: bigint;
  deleted: boolean;
  /** Payload of each entry; undefined for one that was removed. */
  readonly entries: Map<Hex, Hex | undefined>;
}

/** What must be on the chain once every request of the plan has succeeded. */
export interface Expected {
  readonly prisms: ReadonlyMap<Hex, ExpectedPrism>;
  /** Credits of each user, in base units, by index. */
  readonly credits: readonly bigint[];
  /** Forwarder nonce of each user, by index. */
  readonly nonces: readonly bigint[];
  /** All that prisms have paid, in base units. */
  readonly relayerFees: bigint;
  readonly protocolFees: bigint;
}

/** What is to be signed, and what must come of it. */
export interface Plan {
  readonly stages: readonly Stage[];
  readonly expected: Expected;
  /** Requests of each action. */
  readonly counts: ReadonlyMap<Action, number>;
}
