import type { Action } from '@prism-gateway/protocol';
import { deriveCloudId, type SignedAction } from '@prism-gateway/protocol/typed-data';
import type { ActionInput } from '@prism-gateway/sdk';
import type { Address, Hex } from 'viem';
import { padHex, stringToHex, toHex } from 'viem/utils';
import { quoteFee } from './quoteFee.ts';

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

/** The state that a prism must have at the end. */
export interface ExpectedPrism {
  readonly cloudId: Hex;
  owner: Address;
  /** Credits in base units. */
  balance: bigint;
  deleted: boolean;
  /** Payload of each entry; undefined for one that was removed. */
  readonly entries: Map<Hex, Hex | undefined>;
}

/** The state that the chain must have once every request of the plan has succeeded. */
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

/** The requests to sign, and their expected results. */
export interface Plan {
  readonly stages: readonly Stage[];
  readonly expected: Expected;
  /** Requests of each action. */
  readonly counts: ReadonlyMap<Action, number>;
}

/** Who takes part, and with what. */
export interface PlannerOptions {
  readonly users: readonly Address[];
  /** In base units. */
  readonly creditsPerUser: bigint;
  /** In base units, of a request that puts data on the chain. */
  readonly protocolFee: bigint;
}

/** One request: users are given by index, prisms by the name that the plan gives them. */
export interface Act {
  readonly user: number;
  readonly action: SignedAction;
  readonly name: string;
  /** How many entries it puts or touches: the newest are replaced, the oldest removed. Default: as few as the action can. */
  readonly entries?: number;
  /** Funds that a creation puts into the prism, in base units. */
  readonly funds?: bigint;
  /** Whom a prism is offered to. */
  readonly to?: number;
}

/** Writes a plan request by request, and what the chain must hold once all have succeeded. */
export interface Planner {
  act(act: Act): void;
  endStage(kind: Stage['kind']): void;
  finish(): { readonly stages: readonly Stage[]; readonly expected: Expected };
}

/** The kind of change that an action makes to entries; the ones that put data on the chain pay the protocol, too. */
const TOUCHES: Readonly<Partial<Record<SignedAction, 'put' | 'replace' | 'remove'>>> = {
  CREATE_PRISM_WITH_DATA_FOR: 'put',
  WRITE_DATA_FOR: 'put',
  MODIFY_DATA_FOR: 'replace',
  DELETE_DATA_FOR: 'remove',
  BATCH_WRITE_DATA_FOR: 'put',
  BATCH_MODIFY_DATA_FOR: 'replace',
  BATCH_DELETE_DATA_FOR: 'remove',
};
const TAKES_ONE: ReadonlySet<SignedAction> = new Set(['WRITE_DATA_FOR', 'MODIFY_DATA_FOR', 'DELETE_DATA_FOR']);

function take<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new RangeError(`there is no ${what}`);
  return value;
}

/** Makes a planner with an empty plan. */
export function createPlanner({ users, creditsPerUser, protocolFee }: PlannerOptions): Planner {
  const names = new Map<string, ExpectedPrism>();
  const credits = users.map(() => creditsPerUser);
  const nonces = users.map(() => 0n);
  const fees = { relayerFees: 0n, protocolFees: 0n };
  const stages: Stage[] = [];
  let steps: Step[] = [];
  let written = 0;

  const addressOf = (user = -1) => take(users[user], `user ${user}`);
  const pay = (user: number, amount: bigint) => {
    credits[user] = take(credits[user], `user ${user}`) + amount;
  };

  function create({ user, name, funds = 0n }: Act): { prism: ExpectedPrism; fields: object } {
    const salt = padHex(stringToHex(name), { size: 32 });
    const owner = addressOf(user);
    const cloudId = deriveCloudId({ signer: owner, salt });
    const prism: ExpectedPrism = { cloudId, owner, balance: funds, deleted: false, entries: new Map() };
    names.set(name, prism);
    pay(user, -funds);
    return { prism, fields: { fundAmount: funds, salt } };
  }

  function touchEntries(prism: ExpectedPrism, { user, action, entries: count = 1 }: Act): object {
    const touch = TOUCHES[action];
    if (touch === undefined) return {};
    const { entries } = prism;
    const present = [...entries].filter(([, payload]) => payload !== undefined).map(([dataId]) => dataId);
    const choices: Record<typeof touch, () => readonly Hex[]> = {
      // An id is never used twice.
      put: () => Array.from({ length: count }, (_, index) => toHex(entries.size + 1 + index, { size: 32 })),
      replace: () => present.slice(-count),
      remove: () => present.slice(0, count),
    };
    const dataIds = choices[touch]();
    // No two payloads are alike, so that none can be taken for another.
    const what = touch === 'put' ? 'entry' : 'new text';
    const payloads = dataIds.map(() => stringToHex(`user ${user + 1}: ${what} ${++written}`));
    for (const [index, dataId] of dataIds.entries()) {
      entries.set(dataId, touch === 'remove' ? undefined : payloads[index]);
    }
    if (TAKES_ONE.has(action)) return { dataId: dataIds[0], ...(touch !== 'remove' && { payload: payloads[0] }) };
    return { dataIds, ...(touch !== 'remove' && { payloads }) };
  }

  return {
    act(act) {
      const { user, action, name } = act;
      const isCreation = action.startsWith('CREATE_');
      const found = isCreation ? undefined : take(names.get(name), `prism ${name}`);
      const { prism, fields } = found ? { prism: found, fields: { cloudId: found.cloudId } } : create(act);
      const touched = touchEntries(prism, act);
      const offer = action === 'TRANSFER_PRISM_FOR' ? { newOwner: addressOf(act.to) } : {};
      const touch = TOUCHES[action];
      const relayerFee = quoteFee({ action, entries: touch === undefined ? 0 : (act.entries ?? 1) });
      const paid = touch === 'put' || touch === 'replace' ? protocolFee : 0n;
      prism.balance -= relayerFee + paid;
      fees.relayerFees += relayerFee;
      fees.protocolFees += paid;
      nonces[user] = take(nonces[user], `user ${user}`) + 1n;
      // The fields are those of the action.
      steps.push({ user, action, wish: { ...fields, ...touched, ...offer, relayerFee } as unknown as ActionInput });
      if (action === 'ACCEPT_TRANSFER_FOR') prism.owner = addressOf(user);
      if (action !== 'DELETE_PRISM_FOR') return;
      pay(user, prism.balance);
      [prism.deleted, prism.balance] = [true, 0n];
    },
    endStage(kind) {
      stages.push(kind === 'own' ? { kind, steps } : { kind, writes: steps });
      steps = [];
    },
    finish() {
      const prisms = new Map([...names.values()].map((prism) => [prism.cloudId, prism]));
      return { stages, expected: { prisms, credits, nonces, ...fees } };
    },
  };
}
