import { describe, expect, test } from 'vitest';
import type { RelayerStore } from '../../src/ports/relayerStore.ts';
import { anyAddress, START } from './storedRequests.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

function describeLabels(use: () => { readonly store: RelayerStore }): void {
  test.each([
    ['emoji', '😀 relayer 🏳️‍🌈'],
    ['a NUL character', 'before\u0000after'],
    ['quotes and line ends', `'"\\\n`],
    ['200 characters of four bytes', '😀'.repeat(200)],
  ])('a label is kept as it was given: %s', async (_, label) => {
    const address = anyAddress();
    const record = { address, label, createdAt: START, updatedAt: START };
    expect(await use().store.put({ address, label, now: START })).toStrictEqual(record);
    expect(await use().store.list()).toContainEqual(record);
  });

  test('adding a known relayer replaces its label and keeps when it was created', async () => {
    const { store } = use();
    const address = anyAddress();
    await store.put({ address, label: 'first', now: START });
    const record = { address, label: 'second', createdAt: START, updatedAt: START + 5 };
    expect(await store.put({ address, label: 'second', now: START + 5 })).toStrictEqual(record);
    expect((await store.list()).filter((relayer) => relayer.address === address)).toStrictEqual([record]);
  });

  test('adding a known relayer without a label removes it', async () => {
    const { store } = use();
    const address = anyAddress();
    await store.put({ address, label: 'first', now: START });
    const record = { address, createdAt: START, updatedAt: START + 5 };
    expect(await store.put({ address, now: START + 5 })).toStrictEqual(record);
    expect(await store.list()).toContainEqual(record);
  });
}

function describeMembership(use: () => { readonly store: RelayerStore }): void {
  test('a relayer is whitelisted from when it is added until it is removed', async () => {
    const { store } = use();
    const address = anyAddress();
    expect(await store.has(address)).toBe(false);
    await store.put({ address, now: START });
    expect(await store.has(address)).toBe(true);
    await store.remove(address);
    expect(await store.has(address)).toBe(false);
    expect((await store.list()).map((relayer) => relayer.address)).not.toContain(address);
  });

  test('letter case does not tell addresses apart', async () => {
    const { store } = use();
    const address = anyAddress();
    const upper = `0x${address.slice(2).toUpperCase()}`;
    await store.put({ address, label: 'first', now: START });
    expect([await store.has(upper), await store.has(address.toLowerCase())]).toEqual([true, true]);
    expect(await store.put({ address: upper, label: 'second', now: START + 1 })).toMatchObject({ createdAt: START });
    const same = (await store.list()).filter((relayer) => relayer.address.toLowerCase() === address.toLowerCase());
    expect(same).toMatchObject([{ label: 'second' }]);
    await store.remove(address.toLowerCase());
    expect(await store.has(upper)).toBe(false);
  });

  test('removing an unknown relayer is no error', async () => {
    await expect(use().store.remove(anyAddress())).resolves.toBeUndefined();
  });

  test('a relayer that comes back is a new one', async () => {
    const { store } = use();
    const address = anyAddress();
    await store.put({ address, label: 'old', now: START });
    await store.remove(address);
    const record = { address, createdAt: START + 9, updatedAt: START + 9 };
    expect(await store.put({ address, now: START + 9 })).toStrictEqual(record);
  });

  test('the list holds every relayer once, oldest first', async () => {
    const { store } = use();
    const times = [30, 10, 20, 10_000, 0];
    const added = await Promise.all(times.map((ms) => store.put({ address: anyAddress(), now: START * 2 + ms })));
    const own = new Set(added.map(({ address }) => address));
    const listed = (await store.list()).filter(({ address }) => own.has(address));
    expect(listed).toStrictEqual(added.toSorted((a, b) => a.createdAt - b.createdAt));
  });

  test('of parallel additions of one address one record is left', async () => {
    const { store } = use();
    const address = anyAddress();
    await Promise.all(Array.from({ length: 20 }, (_, i) => store.put({ address, label: `${i}`, now: START })));
    expect((await store.list()).filter((relayer) => relayer.address === address)).toHaveLength(1);
  });
}

/**
 * What every driver of the whitelist's port must do.
 *
 * @param name - of the driver
 * @param createStore - makes an empty store
 * @see ../../src/ports/relayerStore.ts
 */
export function relayerStoreContract(name: string, createStore: CreateStore<RelayerStore>): void {
  describe(`${name} keeps the contract of RelayerStore`, () => {
    describe('a new store', () => {
      const use = useStore(createStore);
      test('whitelists nobody', async () => {
        expect([await use().store.list(), await use().store.has(anyAddress())]).toEqual([[], false]);
      });
    });

    describe('a store in use', () => {
      const use = useStore(createStore);
      describeMembership(use);
      describeLabels(use);

      test('another process knows a relayer, and its removal, as soon as the call has resolved', async () => {
        const { store, openPeer } = use();
        const peer = (await openPeer?.()) ?? store;
        const address = anyAddress();
        await store.put({ address, now: START });
        expect(await peer.has(address)).toBe(true);
        await store.remove(address);
        expect(await peer.has(address)).toBe(false);
      });
    });

    describe('a store that does not answer', () => {
      const use = useStore(createStore);
      test('says so by DependencyUnavailableError from every method', async () => {
        const { store, cutOff } = use();
        await cutOff();
        const address = anyAddress();
        const calls = [store.put({ address, now: START }), store.remove(address), store.has(address), store.list()];
        for (const answer of await Promise.allSettled(calls)) {
          expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
        }
      });
    });
  });
}
