import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNonceBook } from './createNonceBook.ts';

/** A chain that runs requests in the order of their nonces, as the Forwarder does. */
type Step = 'submit' | 'refuse' | 'run' | 'fail' | 'sync';
const steps = fc.array(fc.constantFrom<Step>('submit', 'submit', 'refuse', 'run', 'fail', 'sync'), { maxLength: 60 });

describe('the nonce book', () => {
  it('gives the lowest free nonce, whatever happened before', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const book = createNonceBook();
        const open = new Map<bigint, string>();
        let [chainNonce, ids] = [0n, 0];
        const sync = () => book.reset(chainNonce, 0);
        const lowestFree = () => {
          let nonce = chainNonce;
          while (open.has(nonce)) nonce++;
          return nonce;
        };
        const acts: Readonly<Record<Step, () => void>> = {
          submit() {
            const nonce = book.reserve();
            expect(nonce).toBe(lowestFree());
            open.set(nonce, `request ${++ids}`);
            book.store(nonce, `request ${ids}`);
          },
          refuse: () => book.release(book.reserve()),
          run() {
            const requestId = open.get(chainNonce);
            if (requestId === undefined) return;
            open.delete(chainNonce++);
            expect(book.settle(requestId, 'success')).toBe(false);
          },
          fail() {
            const [nonce, requestId] = [...open][ids % Math.max(1, open.size)] ?? [];
            if (nonce === undefined || requestId === undefined) return;
            open.delete(nonce);
            if (book.settle(requestId, 'failed')) sync();
          },
          sync,
        };
        sync();
        for (const step of plan) acts[step]();
        expect(new Map(book.requests())).toEqual(open);
      }),
    );
  });

  it('keeps nonces of entries that no request holds, until the chain has used them', () => {
    const book = createNonceBook();
    expect([book.reserve(), book.reserve()]).toEqual([0n, 1n]);
    book.reset(1n, 0);
    expect(book.reserve()).toBe(2n);
    book.release(1n);
    expect(book.reserve()).toBe(1n);
  });

  it('gives a nonce again that the chain has freed for a quarter of an hour, and none for a node that lags', () => {
    const book = createNonceBook();
    book.store(book.reserve(), 'undone');
    book.settle('undone', 'success');
    book.reset(0n, 1000);
    expect(book.reserve()).toBe(1n);
    book.reset(1n, 600_000);
    book.reset(0n, 700_000);
    book.release(1n);
    book.reset(0n, 1_599_999);
    expect(book.reserve()).toBe(1n);
    book.reset(0n, 1_600_000);
    expect(book.reserve()).toBe(0n);
  });

  it('takes two nodes that lag for a moment, each after a success of its own, for no freed nonce', () => {
    const book = createNonceBook();
    for (const [nonce, nowMs] of [
      [0n, 0],
      [1n, 1_000_000],
    ] as const) {
      book.store(book.reserve(), `request ${nonce}`);
      book.settle(`request ${nonce}`, 'success');
      book.reset(nonce, nowMs);
    }
    expect(book.reserve()).toBe(2n);
  });

  it('gives no nonce again, to a node that lags, which a request has used though another one was signed in its place', () => {
    const book = createNonceBook();
    const nonce = book.reserve();
    book.store(nonce, 'cheap');
    book.store(nonce, 'dearer');
    expect(book.settle('cheap', 'success')).toBe(false);
    expect(book.settle('dearer', 'failed')).toBe(true);
    book.reset(0n, 0);
    expect(book.reserve()).toBe(1n);
  });

  it('keeps the nonce for the request signed in place of one that fails', () => {
    const book = createNonceBook();
    book.store(book.reserve(), 'cheap');
    book.store(0n, 'dearer');
    expect(book.settle('cheap', 'failed')).toBe(true);
    book.reset(0n, 0);
    expect(book.reserve()).toBe(1n);
    expect(book.requests()).toEqual([[0n, 'dearer']]);
  });

  it('does not know of requests that others have made', () => {
    const book = createNonceBook();
    expect(book.settle('another', 'success')).toBe(false);
    // Its nonce may have been the next one.
    expect(book.settle('another', 'failed')).toBe(true);
    expect(book.nonceOf('another')).toBeUndefined();
  });
});
