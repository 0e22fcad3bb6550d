import { deriveCloudId } from '@prism-gateway/protocol/typed-data';
import { padHex, stringToHex } from 'viem/utils';
import type { Book } from './createBook.ts';
import { type CreatePayload, type Entries, putEntries, removeEntries, replaceEntries } from './entries.ts';
import type { ExpectedPrism } from './plan.ts';

/** A prism by the name that the plan gives it, and how many of its entries. */
interface Some {
  readonly name: string;
  readonly entries: number;
}

/** Writes a plan request by request: one verb an action. Users are given by index, prisms by the name that the plan gives them. */
export interface Planner {
  createPrism(user: number, prism: Some & { readonly funds: bigint }): void;
  transferPrism(user: number, transfer: { readonly name: string; readonly to: number }): void;
  acceptTransfer(user: number, name: string): void;
  deletePrism(user: number, name: string): void;
  writeData(user: number, name: string): void;
  /** Replaces the newest entry. */
  modifyData(user: number, name: string): void;
  /** Removes the oldest entry. */
  deleteData(user: number, name: string): void;
  batchWriteData(user: number, batch: Some): void;
  /** Replaces the newest entries. */
  batchModifyData(user: number, batch: Some): void;
  /** Removes the oldest entries. */
  batchDeleteData(user: number, batch: Some): void;
}

type PayloadsOf = (user: number, what: string) => CreatePayload;
type PrismVerbs = Pick<Planner, 'createPrism' | 'transferPrism' | 'acceptTransfer' | 'deletePrism'>;
type EntryVerbs = Pick<Planner, 'writeData' | 'modifyData' | 'deleteData'>;
type BatchVerbs = Pick<Planner, 'batchWriteData' | 'batchModifyData' | 'batchDeleteData'>;

function createPrismVerbs(book: Book, payloadsOf: PayloadsOf): PrismVerbs {
  return {
    createPrism(user, { name, funds, entries }) {
      const salt = padHex(stringToHex(name), { size: 32 });
      const owner = book.addressOf(user);
      const cloudId = deriveCloudId({ signer: owner, salt });
      const prism: ExpectedPrism = { cloudId, owner, balance: funds, deleted: false, entries: new Map() };
      book.addPrism(name, prism);
      book.pay(user, -funds);
      const creation = { fundAmount: funds, salt };
      if (entries === 0) return book.add({ user, prism, action: 'CREATE_PRISM_FOR', entries, fields: creation });
      const fields = { ...creation, ...putEntries(prism, entries, payloadsOf(user, 'entry')) };
      book.add({ user, prism, action: 'CREATE_PRISM_WITH_DATA_FOR', entries, fields });
    },
    transferPrism(user, { name, to }) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, newOwner: book.addressOf(to) };
      book.add({ user, prism, action: 'TRANSFER_PRISM_FOR', entries: 0, fields });
    },
    acceptTransfer(user, name) {
      const prism = book.prismOf(name);
      prism.owner = book.addressOf(user);
      book.add({ user, prism, action: 'ACCEPT_TRANSFER_FOR', entries: 0, fields: { cloudId: prism.cloudId } });
    },
    deletePrism(user, name) {
      const prism = book.prismOf(name);
      book.add({ user, prism, action: 'DELETE_PRISM_FOR', entries: 0, fields: { cloudId: prism.cloudId } });
      book.pay(user, prism.balance);
      [prism.deleted, prism.balance] = [true, 0n];
    },
  };
}

function createEntryVerbs(book: Book, payloadsOf: PayloadsOf): EntryVerbs {
  const first = ({ dataIds: [dataId], payloads: [payload] }: Entries) => ({ dataId, payload });
  return {
    writeData(user, name) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, ...first(putEntries(prism, 1, payloadsOf(user, 'entry'))) };
      book.add({ user, prism, action: 'WRITE_DATA_FOR', entries: 1, fields });
    },
    modifyData(user, name) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, ...first(replaceEntries(prism, 1, payloadsOf(user, 'new text'))) };
      book.add({ user, prism, action: 'MODIFY_DATA_FOR', entries: 1, fields });
    },
    deleteData(user, name) {
      const prism = book.prismOf(name);
      const [dataId] = removeEntries(prism, 1);
      book.add({ user, prism, action: 'DELETE_DATA_FOR', entries: 1, fields: { cloudId: prism.cloudId, dataId } });
    },
  };
}

function createBatchVerbs(book: Book, payloadsOf: PayloadsOf): BatchVerbs {
  return {
    batchWriteData(user, { name, entries }) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, ...putEntries(prism, entries, payloadsOf(user, 'entry')) };
      book.add({ user, prism, action: 'BATCH_WRITE_DATA_FOR', entries, fields });
    },
    batchModifyData(user, { name, entries }) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, ...replaceEntries(prism, entries, payloadsOf(user, 'new text')) };
      book.add({ user, prism, action: 'BATCH_MODIFY_DATA_FOR', entries, fields });
    },
    batchDeleteData(user, { name, entries }) {
      const prism = book.prismOf(name);
      const fields = { cloudId: prism.cloudId, dataIds: removeEntries(prism, entries) };
      book.add({ user, prism, action: 'BATCH_DELETE_DATA_FOR', entries, fields });
    },
  };
}

/**
 * Makes the verbs that write a plan into a book.
 *
 * @param book - takes each request, and what the chain must hold after it
 */
export function createPlanner(book: Book): Planner {
  let written = 0;
  // No two payloads are alike, so that none can be taken for another.
  const payloadsOf: PayloadsOf = (user, what) => () => stringToHex(`user ${user + 1}: ${what} ${++written}`);
  return {
    ...createPrismVerbs(book, payloadsOf),
    ...createEntryVerbs(book, payloadsOf),
    ...createBatchVerbs(book, payloadsOf),
  };
}
