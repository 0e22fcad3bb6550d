import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import type { ActionInput } from '@prism-gateway/sdk';
import type { Address, Hex } from 'viem';
import { quoteFee } from './fees.ts';
import type { Expected, ExpectedPrism, Stage, Step } from './plan.ts';

/** Who takes part, and with what. */
export interface BookOptions {
  readonly users: readonly Address[];
  /** In base units. */
  readonly creditsPerUser: bigint;
  /** In base units, of a request that puts data on the chain. */
  readonly protocolFee: bigint;
}

/** A request to note. */
export interface Draft {
  readonly user: number;
  readonly prism: ExpectedPrism;
  readonly action: SignedAction;
  /** How many entries it touches, for its fee. */
  readonly entries: number;
  /** What the action takes besides its fee. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Notes requests, and what the chain must hold once they have succeeded. */
export interface Book {
  /** The address of a user. @throws RangeError */
  addressOf(user: number): Address;
  /** A prism by the name that the plan gives it. @throws RangeError */
  prismOf(name: string): ExpectedPrism;
  addPrism(name: string, prism: ExpectedPrism): void;
  /** Notes a request: its step, its fees and its nonce. */
  add(draft: Draft): void;
  /** Notes credits that a user gets, or puts into a prism where they are negative. */
  pay(user: number, credits: bigint): void;
  endStage(kind: Stage['kind']): void;
  finish(): { readonly stages: readonly Stage[]; readonly expected: Expected };
}

/** Requests that put data on the chain pay the protocol, too. */
const DATA_ACTIONS: ReadonlySet<SignedAction> = new Set<SignedAction>([
  'CREATE_PRISM_WITH_DATA_FOR',
  'WRITE_DATA_FOR',
  'MODIFY_DATA_FOR',
  'BATCH_WRITE_DATA_FOR',
  'BATCH_MODIFY_DATA_FOR',
]);

function take<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new RangeError(`there is no ${what}`);
  return value;
}

/** Makes an empty book. */
export function createBook({ users, creditsPerUser, protocolFee }: BookOptions): Book {
  const names = new Map<string, ExpectedPrism>();
  const prisms = new Map<Hex, ExpectedPrism>();
  const credits = users.map(() => creditsPerUser);
  const nonces = users.map(() => 0n);
  const fees = { relayerFees: 0n, protocolFees: 0n };
  const stages: Stage[] = [];
  let steps: Step[] = [];
  return {
    addressOf: (user) => take(users[user], `user ${user}`),
    prismOf: (name) => take(names.get(name), `prism ${name}`),
    addPrism(name, prism) {
      names.set(name, prism);
      prisms.set(prism.cloudId, prism);
    },
    add({ user, prism, action, entries, fields }) {
      const relayerFee = quoteFee({ action, entries });
      const paid = DATA_ACTIONS.has(action) ? protocolFee : 0n;
      prism.balance -= relayerFee + paid;
      fees.relayerFees += relayerFee;
      fees.protocolFees += paid;
      nonces[user] = take(nonces[user], `user ${user}`) + 1n;
      // The planner gives the fields of the action.
      steps.push({ user, action, wish: { ...fields, relayerFee } as unknown as ActionInput });
    },
    pay(user, amount) {
      credits[user] = take(credits[user], `user ${user}`) + amount;
    },
    endStage(kind) {
      stages.push(kind === 'own' ? { kind, steps } : { kind, writes: steps });
      steps = [];
    },
    finish: () => ({ stages, expected: { prisms, credits, nonces, ...fees } }),
  };
}
