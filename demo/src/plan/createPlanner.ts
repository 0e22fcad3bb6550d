import { deriveCloudId, type SignedAction } from '@prism-gateway/protocol/typed-data';
import type { Wish } from '@prism-gateway/sdk';
import type { Address, Hex } from 'viem';
import { padHex, stringToHex, toHex } from 'viem/utils';
import { quoteFee } from './fees.ts';
import type { Expected, ExpectedPrism, Stage, Step } from './plan.ts';

/** Who takes part, and with what. */
export interface PlannerOptions {
  readonly users: readonly Address[];
  /** In base units. */
  readonly creditsPerUser: bigint;
  /** In base units, of a request that puts data on the chain. */
  readonly protocolFee: bigint;
}

/** Writes a plan step by step, and keeps what the chain must hold after each. Prisms are named by whoever plans. */
export interface Planner {
  createPrism(user: number, prism: { readonly name: string; readonly funds: bigint; readonly entries: number }): void;
  writeData(user: number, name: string): void;
  /** Replaces the newest entry. */
  modifyData(user: number, name: string): void;
  /** Removes the oldest entry. */
  deleteData(user: number, name: string): void;
  transferPrism(user: number, transfer: { readonly name: string; readonly to: number }): void;
  acceptTransfer(user: number, name: string): void;
  deletePrism(user: number, name: string): void;
  batchWriteData(user: number, batch: { readonly name: string; readonly entries: number }): void;
  /** Replaces the newest entries. */
  batchModifyData(user: number, batch: { readonly name: string; readonly entries: number }): void;
  /** Removes the oldest entries. */
  batchDeleteData(user: number, batch: { readonly name: string; readonly entries: number }): void;
  /** Ends a stage: what was planned since the last one is its users' own requests, or one multi-user batch of their writes. */
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

interface Draft {
  readonly user: number;
  readonly prism: ExpectedPrism;
  readonly action: SignedAction;
  /** How many entries it touches, for its fee. */
  readonly entries: number;
  /** What the action takes besides its fee. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Makes an empty plan. */
export function createPlanner({ users, creditsPerUser, protocolFee }: PlannerOptions): Planner {
  const prisms = new Map<Hex, ExpectedPrism>();
  const names = new Map<string, ExpectedPrism>();
  const credits = users.map(() => creditsPerUser);
  const nonces = users.map(() => 0n);
  const fees = { relayerFees: 0n, protocolFees: 0n };
  const stages: Stage[] = [];
  let steps: Step[] = [];
  let payloads = 0;

  const addressOf = (user: number) => {
    const address = users[user];
    if (address === undefined) throw new RangeError(`there is no user ${user}`);
    return address;
  };
  const prismOf = (name: string) => {
    const prism = names.get(name);
    if (prism === undefined) throw new RangeError(`there is no prism ${name}`);
    return prism;
  };
  const dataIds = ({ entries }: ExpectedPrism) =>
    [...entries].filter(([, payload]) => payload !== undefined).map(([id]) => id);
  const createPayload = (user: number, what: string) => stringToHex(`user ${user + 1}: ${what} ${++payloads}`);

  /** Notes a request, its fee and its nonce. */
  function add({ user, prism, action, entries, fields }: Draft): void {
    const relayerFee = quoteFee({ action, entries });
    const paid = DATA_ACTIONS.has(action) ? protocolFee : 0n;
    prism.balance -= relayerFee + paid;
    fees.relayerFees += relayerFee;
    fees.protocolFees += paid;
    nonces[user] = (nonces[user] ?? 0n) + 1n;
    // Each verb below gives the fields of its action.
    steps.push({ user, action, wish: { ...fields, relayerFee } as unknown as Wish });
  }

  /** Puts new entries into a prism. @returns their ids and payloads */
  function putEntries(user: number, prism: ExpectedPrism, count: number) {
    const added = Array.from({ length: count }, () => {
      const entry = { dataId: toHex(prism.entries.size + 1, { size: 32 }), payload: createPayload(user, 'entry') };
      prism.entries.set(entry.dataId, entry.payload);
      return entry;
    });
    return { dataIds: added.map(({ dataId }) => dataId), payloads: added.map(({ payload }) => payload) };
  }

  function replaceEntries(user: number, prism: ExpectedPrism, count: number) {
    const ids = dataIds(prism).slice(-count);
    const replaced = ids.map((dataId) => ({ dataId, payload: createPayload(user, 'new text') }));
    for (const { dataId, payload } of replaced) prism.entries.set(dataId, payload);
    return { dataIds: ids, payloads: replaced.map(({ payload }) => payload) };
  }

  function removeEntries(prism: ExpectedPrism, count: number) {
    const ids = dataIds(prism).slice(0, count);
    for (const dataId of ids) prism.entries.set(dataId, undefined);
    return ids;
  }

  const first = ({ dataIds: [dataId], payloads: [payload] }: ReturnType<typeof putEntries>) => ({ dataId, payload });

  return {
    createPrism(user, { name, funds, entries }) {
      const salt = padHex(stringToHex(name), { size: 32 });
      const owner = addressOf(user);
      const cloudId = deriveCloudId({ signer: owner, salt });
      const prism: ExpectedPrism = { cloudId, owner, balance: funds, deleted: false, entries: new Map() };
      names.set(name, prism);
      prisms.set(cloudId, prism);
      credits[user] = (credits[user] ?? 0n) - funds;
      const creation = { fundAmount: funds, salt };
      if (entries === 0) return add({ user, prism, action: 'CREATE_PRISM_FOR', entries, fields: creation });
      const fields = { ...creation, ...putEntries(user, prism, entries) };
      add({ user, prism, action: 'CREATE_PRISM_WITH_DATA_FOR', entries, fields });
    },
    writeData(user, name) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, ...first(putEntries(user, prism, 1)) };
      add({ user, prism, action: 'WRITE_DATA_FOR', entries: 1, fields });
    },
    modifyData(user, name) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, ...first(replaceEntries(user, prism, 1)) };
      add({ user, prism, action: 'MODIFY_DATA_FOR', entries: 1, fields });
    },
    deleteData(user, name) {
      const prism = prismOf(name);
      const [dataId] = removeEntries(prism, 1);
      add({ user, prism, action: 'DELETE_DATA_FOR', entries: 1, fields: { cloudId: prism.cloudId, dataId } });
    },
    transferPrism(user, { name, to }) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, newOwner: addressOf(to) };
      add({ user, prism, action: 'TRANSFER_PRISM_FOR', entries: 0, fields });
    },
    acceptTransfer(user, name) {
      const prism = prismOf(name);
      prism.owner = addressOf(user);
      add({ user, prism, action: 'ACCEPT_TRANSFER_FOR', entries: 0, fields: { cloudId: prism.cloudId } });
    },
    deletePrism(user, name) {
      const prism = prismOf(name);
      add({ user, prism, action: 'DELETE_PRISM_FOR', entries: 0, fields: { cloudId: prism.cloudId } });
      credits[user] = (credits[user] ?? 0n) + prism.balance;
      [prism.deleted, prism.balance] = [true, 0n];
    },
    batchWriteData(user, { name, entries }) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, ...putEntries(user, prism, entries) };
      add({ user, prism, action: 'BATCH_WRITE_DATA_FOR', entries, fields });
    },
    batchModifyData(user, { name, entries }) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, ...replaceEntries(user, prism, entries) };
      add({ user, prism, action: 'BATCH_MODIFY_DATA_FOR', entries, fields });
    },
    batchDeleteData(user, { name, entries }) {
      const prism = prismOf(name);
      const fields = { cloudId: prism.cloudId, dataIds: removeEntries(prism, entries) };
      add({ user, prism, action: 'BATCH_DELETE_DATA_FOR', entries, fields });
    },
    endStage(kind) {
      stages.push(kind === 'own' ? { kind, steps } : { kind, writes: steps });
      steps = [];
    },
    finish: () => ({ stages, expected: { prisms, credits, nonces, ...fees } }),
  };
}
