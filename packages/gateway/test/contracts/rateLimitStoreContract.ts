import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RateLimitStore, slidingUse, type Take, type WindowCounts } from '../../src/ports/rateLimitStore.ts';
import type { CreateStore, StoreUnderTest } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

/** A window of one minute in 2027. */
const WINDOW = 30_000_000;

const anyKey = () => `reads:ip:${randomUUID()}`;
const takeOf = (key: string, fields: Partial<Take> = {}): Take => ({
  key,
  limit: 5,
  window: WINDOW,
  elapsed: 0.5,
  ...fields,
});

/** The port's docstring, as plainly as it can be said. */
function createModel() {
  const hits = new Map<string, number>();
  const countsOf = (key: string, window: number): WindowCounts => ({
    current: hits.get(`${key} ${window}`) ?? 0,
    previous: hits.get(`${key} ${window - 1}`) ?? 0,
  });
  return {
    peek: countsOf,
    take({ key, window, elapsed, limit, hits: asked = 1 }: Take) {
      const counts = countsOf(key, window);
      const after = { current: counts.current + asked, previous: counts.previous };
      const allowed = slidingUse(after, { window, elapsed }) <= limit;
      if (allowed) hits.set(`${key} ${window}`, after.current);
      return { allowed, counts: allowed ? after : counts };
    },
  };
}

async function takeMany(store: RateLimitStore, take: Take, times: number): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < times; i++) if ((await store.take(take)).allowed) allowed++;
  return allowed;
}

function describeOneClient(use: () => StoreUnderTest<RateLimitStore>): void {
  test('hits are counted up to the limit; what is refused is not counted', async () => {
    const { store } = use();
    const key = anyKey();
    for (let current = 1; current <= 5; current++) {
      expect(await store.take(takeOf(key))).toStrictEqual({ allowed: true, counts: { current, previous: 0 } });
    }
    for (let i = 0; i < 3; i++) {
      expect(await store.take(takeOf(key))).toStrictEqual({ allowed: false, counts: { current: 5, previous: 0 } });
    }
  });

  test('the window before weighs by as much of it as the sliding window still covers', async () => {
    const { store } = use();
    const key = anyKey();
    await takeMany(store, takeOf(key, { limit: 8 }), 8);
    const next = takeOf(key, { limit: 8, window: WINDOW + 1, elapsed: 0.25 });
    // 8 × 0.75 = 6 are in use: two more fit.
    expect(await takeMany(store, next, 5)).toBe(2);
    expect(await store.peek(key, WINDOW + 1)).toStrictEqual({ current: 2, previous: 8 });
    expect(await takeMany(store, { ...next, elapsed: 0.5 }, 5)).toBe(2);
  });

  test('windows before the one before weigh nothing', async () => {
    const { store } = use();
    const key = anyKey();
    await takeMany(store, takeOf(key), 5);
    expect(await store.peek(key, WINDOW + 2)).toStrictEqual({ current: 0, previous: 0 });
    expect(await takeMany(store, takeOf(key, { window: WINDOW + 2, elapsed: 0 }), 9)).toBe(5);
  });

  test('peeking counts nothing, before the first hit and after', async () => {
    const { store } = use();
    const key = anyKey();
    for (let i = 0; i < 3; i++) expect(await store.peek(key, WINDOW)).toStrictEqual({ current: 0, previous: 0 });
    await store.take(takeOf(key));
    for (let i = 0; i < 3; i++) expect(await store.peek(key, WINDOW)).toStrictEqual({ current: 1, previous: 0 });
  });

  test('several hits at once are taken all or not at all', async () => {
    const { store } = use();
    const key = anyKey();
    const three = takeOf(key, { hits: 3 });
    expect(await store.take(three)).toStrictEqual({ allowed: true, counts: { current: 3, previous: 0 } });
    expect(await store.take(three)).toStrictEqual({ allowed: false, counts: { current: 3, previous: 0 } });
    expect((await store.take(takeOf(key, { hits: 2 }))).allowed).toBe(true);
    expect((await store.take(takeOf(anyKey(), { hits: 6 }))).allowed, 'more than the limit').toBe(false);
  });

  test('a limit of one lets one through', async () => {
    expect(await takeMany(use().store, takeOf(anyKey(), { limit: 1 }), 4)).toBe(1);
  });

  test('of parallel hits as many pass as the limit says', async () => {
    const { store } = use();
    const key = anyKey();
    const answers = await Promise.all(Array.from({ length: 40 }, () => store.take(takeOf(key, { limit: 7 }))));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(7);
  });

  test('clients are counted apart, whatever their names hold', async () => {
    const { store } = use();
    const keys = [anyKey(), `${anyKey()} 'quoted' "and" 😀`, `writes:ip:${'x'.repeat(500)}${randomUUID()}`];
    for (const key of keys) expect(await takeMany(store, takeOf(key), 6)).toBe(5);
  });
}

/** Hits of three clients as time goes on, and looks at them. */
const stepsArbitrary = fc.array(
  fc.record({
    client: fc.nat({ max: 2 }),
    isPeek: fc.boolean(),
    /** In 64ths of a window, which binary fractions hold exactly. */
    passed: fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 8 }) }, { weight: 1, arbitrary: fc.nat({ max: 200 }) }),
    limit: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 60 },
);

function describeKnown(use: () => StoreUnderTest<RateLimitStore>): void {
  // Shows ADMIN-12.
  test('whose hits were counted is known with them, and the window that they are of', async () => {
    const { store } = use();
    const [busy, calm] = [anyKey(), anyKey()];
    await takeMany(store, takeOf(busy), 6);
    await store.take(takeOf(calm, { hits: 2 }));
    await store.take(takeOf(calm, { window: WINDOW + 1 }));
    const known = [...store.known()].filter(({ key }) => key === busy || key === calm);
    expect(known).toHaveLength(2);
    expect(known).toContainEqual({ key: busy, window: WINDOW, counts: { current: 5, previous: 0 } });
    expect(known).toContainEqual({ key: calm, window: WINDOW + 1, counts: { current: 1, previous: 2 } });
  });
}

function describeModel(use: () => StoreUnderTest<RateLimitStore>): void {
  test('any run of hits is decided as the formula says', async () => {
    const { store } = use();
    await fc.assert(
      fc.asyncProperty(stepsArbitrary, async (steps) => {
        const model = createModel();
        const prefix = anyKey();
        let time = WINDOW * 64;
        for (const { client, isPeek, passed, limit } of steps) {
          time += passed;
          const take = { key: `${prefix}${client}`, limit, window: Math.floor(time / 64), elapsed: (time % 64) / 64 };
          if (isPeek) expect(await store.peek(take.key, take.window)).toStrictEqual(model.peek(take.key, take.window));
          else expect(await store.take(take)).toStrictEqual(model.take(take));
        }
      }),
      { numRuns: 60 },
    );
  });
}

function describeProcesses(use: () => StoreUnderTest<RateLimitStore>): void {
  test('hits of one process come to count in the other', async () => {
    const { store, openPeer, catchUp } = use();
    const peer = (await openPeer?.()) ?? store;
    const key = anyKey();
    await takeMany(store, takeOf(key), 3);
    await catchUp?.();
    expect(await peer.take(takeOf(key))).toStrictEqual({ allowed: true, counts: { current: 4, previous: 0 } });
    await catchUp?.();
    await store.take(takeOf(key));
    await catchUp?.();
    // A process may learn of the others only when it has counted a hit itself.
    await peer.take(takeOf(key));
    await catchUp?.();
    expect((await peer.take(takeOf(key))).allowed).toBe(false);
  });

  test('what another process counted in the window before weighs in the next', async () => {
    const { store, openPeer, catchUp } = use();
    const peer = (await openPeer?.()) ?? store;
    const key = anyKey();
    await peer.take(takeOf(key));
    await catchUp?.();
    await takeMany(store, takeOf(key), 4);
    await catchUp?.();
    expect(await peer.peek(key, WINDOW + 1)).toStrictEqual({ current: 0, previous: 5 });
  });

  test('what another process has counted in a window that has just begun counts here too', async () => {
    const { store, openPeer, catchUp } = use();
    const peer = (await openPeer?.()) ?? store;
    const key = anyKey();
    await peer.take(takeOf(key));
    await takeMany(store, takeOf(key, { window: WINDOW + 1 }), 4);
    await catchUp?.();
    expect(await peer.peek(key, WINDOW + 1)).toMatchObject({ current: 4 });
  });
}

/**
 * The contract of every driver of the rate limits' port. Counts of several processes may come together late; `catchUp` waits until they
 * have.
 *
 * @see ../../src/ports/rateLimitStore.ts
 */
export function rateLimitStoreContract(name: string, createStore: CreateStore<RateLimitStore>): void {
  describe(`${name} keeps the contract of RateLimitStore`, () => {
    const use = useStore(createStore);
    describe('one client', () => describeOneClient(use));
    describe('what is known', () => describeKnown(use));
    describe('against a model', () => describeModel(use));
    describe('several processes', () => describeProcesses(use));

    describe('a store that does not answer', () => {
      const useCut = useStore(createStore);
      test('decides all the same, or throws DependencyUnavailableError and nothing else', async () => {
        const { store, cutOff } = useCut();
        const known = anyKey();
        await store.take(takeOf(known));
        await cutOff();
        const key = anyKey();
        const calls = [
          () => store.take(takeOf(known)),
          () => store.peek(known, WINDOW),
          () => store.take(takeOf(key)),
          () => store.peek(key, WINDOW),
        ];
        for (const answer of await Promise.allSettled(calls.map(async (call) => call()))) {
          if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
        }
      });
    });
  });
}
