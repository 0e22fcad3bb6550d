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
    expect(await store.find(address)).toBeUndefined();
    await store.put({ address, now: START });
    expect(await store.find(address)).toStrictEqual({ address, createdAt: START, updatedAt: START });
    await store.remove(address);
    expect(await store.find(address)).toBeUndefined();
    expect((await store.list()).map((relayer) => relayer.address)).not.toContain(address);
  });

  test('letter case does not tell addresses apart', async () => {
    const { store } = use();
    const address = anyAddress();
    const upper = `0x${address.slice(2).toUpperCase()}`;
    await store.put({ address, label: 'first', now: START });
    for (const other of [upper, address.toLowerCase()]) expect(await store.find(other)).toMatchObject({ address });
    expect(await store.put({ address: upper, label: 'second', now: START + 1 })).toMatchObject({ createdAt: START });
    const same = (await store.list()).filter((relayer) => relayer.address.toLowerCase() === address.toLowerCase());
    expect(same).toMatchObject([{ label: 'second' }]);
    await store.remove(address.toLowerCase());
    expect(await store.find(upper)).toBeUndefined();
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

function describeSuspension(use: () => { readonly store: RelayerStore }): void {
  const reason = 'Its "key" was\nseen in a log. 😀';

  test('a suspended relayer stays on the whitelist with the reason, and its label, until it is resumed', async () => {
    const { store } = use();
    const address = anyAddress();
    const added = await store.put({ address, label: 'eu-1', now: START });
    const suspended = { ...added, updatedAt: START + 1, suspendedAt: START + 1, suspendReason: reason };
    const lower = address.toLowerCase();
    expect(await store.suspend({ address: lower, reason, now: START + 1 })).toStrictEqual(suspended);
    expect(await store.find(address)).toStrictEqual(suspended);
    expect(await store.list()).toContainEqual(suspended);
    const resumed = { ...added, updatedAt: START + 2 };
    expect(await store.resume({ address, now: START + 2 })).toStrictEqual(resumed);
    expect(await store.find(address)).toStrictEqual(resumed);
  });

  test('a second suspension replaces the reason and not the time; to resume twice changes nothing', async () => {
    const { store } = use();
    const address = anyAddress();
    await store.put({ address, now: START });
    await store.suspend({ address, reason: 'first', now: START + 1 });
    const again = { address, createdAt: START, updatedAt: START + 2, suspendedAt: START + 1, suspendReason: 'second' };
    expect(await store.suspend({ address, reason: 'second', now: START + 2 })).toStrictEqual(again);
    const resumed = await store.resume({ address, now: START + 3 });
    expect(await store.resume({ address, now: START + 4 })).toStrictEqual(resumed);
  });

  test('a new label does not end a suspension; a removal does', async () => {
    const { store } = use();
    const address = anyAddress();
    await store.put({ address, now: START });
    await store.suspend({ address, reason, now: START + 1 });
    expect(await store.put({ address, label: 'new', now: START + 2 })).toMatchObject({ suspendReason: reason });
    expect(await store.find(address)).toMatchObject({ label: 'new', suspendedAt: START + 1 });
    await store.remove(address);
    expect(await store.put({ address, now: START + 3 })).not.toHaveProperty('suspendedAt');
  });

  test('nobody who is not on the whitelist is suspended, or put on it by that', async () => {
    const { store } = use();
    const address = anyAddress();
    expect(await store.suspend({ address, reason, now: START })).toBeUndefined();
    expect(await store.resume({ address, now: START })).toBeUndefined();
    expect(await store.find(address)).toBeUndefined();
  });
}

/** The contract of every driver of the whitelist's port. @see ../../src/ports/relayerStore.ts */
export function relayerStoreContract(name: string, createStore: CreateStore<RelayerStore>): void {
  describe(`${name} keeps the contract of RelayerStore`, () => {
    describe('a new store', () => {
      const use = useStore(createStore);
      test('whitelists nobody', async () => {
        expect([await use().store.list(), await use().store.find(anyAddress())]).toEqual([[], undefined]);
      });
    });

    describe('a store in use', () => {
      const use = useStore(createStore);
      describeMembership(use);
      describeLabels(use);
      describeSuspension(use);

      test('another process knows a relayer, and its removal, as soon as the call has resolved', async () => {
        const { store, openPeer } = use();
        const peer = (await openPeer?.()) ?? store;
        const address = anyAddress();
        await store.put({ address, now: START });
        expect(await peer.find(address)).toMatchObject({ address });
        await store.remove(address);
        expect(await peer.find(address)).toBeUndefined();
      });
    });

    describe('a store that does not answer', () => {
      const use = useStore(createStore);
      test('says so by DependencyUnavailableError from every method', async () => {
        const { store, cutOff } = use();
        await cutOff();
        const address = anyAddress();
        const calls = [
          store.put({ address, now: START }),
          store.remove(address),
          store.find(address),
          store.list(),
          store.suspend({ address, reason: 'leaked key', now: START }),
          store.resume({ address, now: START }),
        ];
        for (const answer of await Promise.allSettled(calls)) {
          expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
        }
      });
    });
  });
}
