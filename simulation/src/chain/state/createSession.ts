import type { StateManagerInterface } from '@ethereumjs/common';
import { Account, type Address as EvmAddress, KECCAK256_NULL } from '@ethereumjs/util';
import type { BlockRecord } from '../records.ts';
import { type AccountState, type Key, NOTHING, type StateChanges, toKey, type WorldState } from './createWorldState.ts';

/** A state on top of a block's, that only one execution at a time sees and changes. */
export interface Session extends StateManagerInterface {
  /** Begins anew on the state after a block. */
  begin(base: BlockRecord): void;
  /** The changes since then. */
  changes(): StateChanges;
  account(address: Key): AccountState | undefined;
  setAccount(address: Key, account: AccountState | undefined): void;
  setSlot(address: Key, slot: Key, value: Uint8Array): void;
  clearSlots(address: Key): void;
}

const EMPTY: AccountState = { nonce: 0n, balance: 0n, code: NOTHING, codeHash: KECCAK256_NULL };

/**
 * Makes a session; what it changes stays in it until its changes are written. Each checkpoint is a place in one list of what to put back.
 *
 * @param world - what is read if nothing has been changed
 * @param keccak256 - for the hashes of code
 */
export function createSession(world: WorldState, keccak256: (bytes: Uint8Array) => Uint8Array): Session {
  let base: BlockRecord | undefined;
  let accounts = new Map<Key, AccountState | undefined>();
  let storage = new Map<Key, Map<Key, Uint8Array>>();
  let cleared = new Set<Key>();
  let original = new Map<Key, Uint8Array>();
  let undo: (() => void)[] = [];
  let checkpoints: number[] = [];

  function account(address: Key): AccountState | undefined {
    const own = accounts.get(address);
    if (own !== undefined || accounts.has(address)) return own;
    return base && world.account(base, address);
  }

  function setAccount(address: Key, value: AccountState | undefined): void {
    const map = accounts;
    if (checkpoints.length > 0) {
      const before = map.get(address);
      const had = before !== undefined || map.has(address);
      undo.push(() => (had ? map.set(address, before) : map.delete(address)));
    }
    map.set(address, value);
  }

  function slot(address: Key, key: Key): Uint8Array {
    const own = storage.get(address)?.get(key);
    if (own !== undefined) return own;
    return base === undefined || cleared.has(address) ? NOTHING : world.storage(base, address, key);
  }

  function setSlot(address: Key, key: Key, value: Uint8Array): void {
    let own = storage.get(address);
    if (own === undefined) {
      own = new Map();
      storage.set(address, own);
    }
    const map = own;
    if (checkpoints.length > 0) {
      const before = map.get(key);
      undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
    }
    map.set(key, value);
  }

  function clearSlots(address: Key): void {
    const [before, wasCleared, map, set] = [storage.get(address), cleared.has(address), storage, cleared];
    undo.push(() => {
      if (before !== undefined) map.set(address, before);
      if (!wasCleared) set.delete(address);
    });
    map.delete(address);
    set.add(address);
  }

  const keyOf = (address: EvmAddress) => toKey(address.bytes);

  return {
    begin(block) {
      base = block;
      accounts = new Map();
      storage = new Map();
      cleared = new Set();
      original = new Map();
      undo = [];
      checkpoints = [];
    },
    changes: () => ({ accounts, storage, cleared }),
    account,
    setAccount,
    setSlot,
    clearSlots,
    async getAccount(address) {
      const state = account(keyOf(address));
      return state && new Account(state.nonce, state.balance, undefined, state.codeHash);
    },
    async putAccount(address, value) {
      const key = keyOf(address);
      if (value === undefined) return setAccount(key, undefined);
      const { code, codeHash } = account(key) ?? EMPTY;
      setAccount(key, { nonce: value.nonce, balance: value.balance, code, codeHash });
    },
    async deleteAccount(address) {
      const key = keyOf(address);
      setAccount(key, undefined);
      clearSlots(key);
    },
    async modifyAccountFields(address, { nonce, balance }) {
      const key = keyOf(address);
      const before = account(key) ?? EMPTY;
      setAccount(key, { ...before, nonce: nonce ?? before.nonce, balance: balance ?? before.balance });
    },
    async putCode(address, code) {
      const key = keyOf(address);
      const codeHash = code.length === 0 ? KECCAK256_NULL : keccak256(code);
      setAccount(key, { ...(account(key) ?? EMPTY), code, codeHash });
    },
    getCode: async (address) => account(keyOf(address))?.code ?? NOTHING,
    getCodeSize: async (address) => account(keyOf(address))?.code.length ?? 0,
    getStorage: async (address, key) => slot(keyOf(address), toKey(key)),
    putStorage: async (address, key, value) => setSlot(keyOf(address), toKey(key), value),
    clearStorage: async (address) => clearSlots(keyOf(address)),
    async checkpoint() {
      checkpoints.push(undo.length);
    },
    async commit() {
      checkpoints.pop();
      if (checkpoints.length === 0) undo = [];
    },
    async revert() {
      const mark = checkpoints.pop() ?? 0;
      while (undo.length > mark) undo.pop()?.();
    },
    originalStorageCache: {
      async get(address, key) {
        const [owner, place] = [keyOf(address), toKey(key)];
        const known = original.get(owner + place);
        if (known !== undefined) return known;
        const value = slot(owner, place);
        original.set(owner + place, value);
        return value;
      },
      clear() {
        original = new Map();
      },
    },
    async getStateRoot() {
      throw new Error('This state has no tries.');
    },
    async setStateRoot() {
      throw new Error('This state has no tries.');
    },
    hasStateRoot: async () => false,
    clearCaches() {},
    shallowCopy() {
      throw new Error('A session belongs to one EVM.');
    },
  };
}
