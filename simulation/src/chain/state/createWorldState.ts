import type { Branches } from '../createBranches.ts';
import type { BlockRecord } from '../records.ts';

/** An account after some block; never changed, only replaced. */
export interface AccountState {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  readonly codeHash: Uint8Array;
}

/** Addresses and slots as text of a byte a character: the cheapest keys of a Map. */
export type Key = string;

/** The changes of a block. */
export interface StateChanges {
  /** undefined: it is gone. */
  readonly accounts: ReadonlyMap<Key, AccountState | undefined>;
  /** By account and slot; empty bytes: nothing is there. */
  readonly storage: ReadonlyMap<Key, ReadonlyMap<Key, Uint8Array>>;
  /** Accounts whose storage was emptied before those changes. */
  readonly cleared: ReadonlySet<Key>;
}

/** The state after every block of every branch. */
export interface WorldState {
  account(at: BlockRecord, address: Key): AccountState | undefined;
  storage(at: BlockRecord, address: Key, slot: Key): Uint8Array;
  /** Keeps what a block changed. Until it is done, nobody asks for the state after that block. */
  write(block: BlockRecord, changes: StateChanges): void;
}

interface Version<T> {
  readonly block: BlockRecord;
  readonly value: T;
}

export const NOTHING = new Uint8Array(0);

/** The function by which Buffers write texts; it takes any bytes, and so spares the making of a Buffer. Node's types do not have it. */
const { latin1Slice } = Buffer.prototype as unknown as { latin1Slice(this: Uint8Array): string };

/** Text of a byte a character. */
export const toKey = (bytes: Uint8Array): Key => latin1Slice.call(bytes);

/**
 * Makes the state without tries: each value has the list of the blocks that changed it, newest last, and a reader takes the newest one that
 * stands on its own branch. So the past, and orphaned branches, cost nothing to keep and nothing to return to.
 *
 * @param branches - which block stands on which branch
 */
export function createWorldState(branches: Pick<Branches, 'isWithin'>): WorldState {
  const accounts = new Map<Key, Version<AccountState | undefined>[]>();
  const slots = new Map<Key, Map<Key, Version<Uint8Array>[]>>();

  function read<T>(versions: readonly Version<T>[] | undefined, at: BlockRecord): T | undefined {
    if (versions === undefined) return undefined;
    for (let index = versions.length - 1; index >= 0; index--) {
      const version = versions[index];
      if (version !== undefined && branches.isWithin(version.block, at)) return version.value;
    }
    return undefined;
  }

  function slotsOf(address: Key): Map<Key, Version<Uint8Array>[]> {
    let own = slots.get(address);
    if (own === undefined) {
      own = new Map();
      slots.set(address, own);
    }
    return own;
  }

  function push<T>(lists: Map<Key, Version<T>[]>, key: Key, version: Version<T>): void {
    const versions = lists.get(key);
    if (versions === undefined) lists.set(key, [version]);
    else versions.push(version);
  }

  return {
    account: (at, address) => read(accounts.get(address), at),
    storage: (at, address, slot) => read(slots.get(address)?.get(slot), at) ?? NOTHING,
    write(block, changes) {
      for (const [address, value] of changes.accounts) push(accounts, address, { block, value });
      for (const address of changes.cleared) {
        for (const slot of slotsOf(address).keys()) push(slotsOf(address), slot, { block, value: NOTHING });
      }
      for (const [address, values] of changes.storage) {
        const own = slotsOf(address);
        for (const [slot, value] of values) push(own, slot, { block, value });
      }
    },
  };
}
