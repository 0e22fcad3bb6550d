import type { RequestRecord } from '@prism-gateway/protocol';
import { describe, expect, it } from 'vitest';
import { createNonceSearch } from './createNonceSearch.ts';

const DOMAIN = { chainId: 31_337, forwarder: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const;

/** A search among records that hold nonces, or none if they are forged; it counts the checks. */
function createSearch(nonces: readonly (bigint | undefined)[], mostChecks = 1000) {
  let checks = 0;
  const search = createNonceSearch({
    domain: DOMAIN,
    mostChecks,
    isSigned: async ({ params, nonce }) => {
      checks++;
      return Object(params).holds === nonce;
    },
  });
  for (const [index, holds] of nonces.entries()) {
    // No more of a record is looked at.
    search.open.set(`request ${index}`, { action: 'DELETE_PRISM_FOR', params: { holds } } as unknown as RequestRecord);
  }
  return { ...search, checks: () => checks };
}

const FORGED = Array.from({ length: 100 }, () => undefined);

describe('the search for who holds a nonce', () => {
  it('checks each forged record once for a new nonce, and never again for the same', async () => {
    const { find, checks } = createSearch(FORGED);
    expect(await find(0n)).toBeUndefined();
    expect(await find(0n)).toBeUndefined();
    expect(checks()).toBe(100);
    expect(await find(1n)).toBeUndefined();
    expect(checks()).toBe(200);
  });

  it.each([
    ['before', [...FORGED, 0n, 1n, 2n], 100n],
    ['after', [0n, 1n, 2n, ...FORGED], 0n],
  ])('finds what is at either end of forged records, in order, at few checks: forged %s', async (_, nonces, first) => {
    const { find, checks } = createSearch(nonces);
    for (const nonce of [0n, 1n, 2n]) expect(await find(nonce)).toBe(`request ${first + nonce}`);
    expect(checks()).toBeLessThan(10);
  });

  it('makes no more checks for a nonce than it may, and goes on where it is asked for the same again', async () => {
    const { find, checks } = createSearch(FORGED, 30);
    for (const expected of [30, 60, 90, 100, 100]) {
      expect(await find(0n)).toBeUndefined();
      expect(checks()).toBe(expected);
    }
    expect(await find(1n)).toBeUndefined();
    expect(checks()).toBe(130);
  });

  it('finds all of many own requests, one check each', async () => {
    const { find, checks } = createSearch(
      Array.from({ length: 500 }, (_, index) => BigInt(index)),
      2,
    );
    for (let nonce = 0n; nonce < 500n; nonce++) expect(await find(nonce)).toBe(`request ${nonce}`);
    expect(checks()).toBe(500);
  });

  it('finds what is far behind a gap, by when it is needed', async () => {
    const { find } = createSearch([1000n]);
    for (const nonce of [0n, 999n]) expect(await find(nonce)).toBeUndefined();
    expect(await find(1000n)).toBe('request 0');
  });

  it('hears an abort between checks', async () => {
    const { find, checks } = createSearch(FORGED);
    const stop = new AbortController();
    const found = find(0n, stop.signal);
    setTimeout(() => stop.abort());
    await expect(found).rejects.toMatchObject({ code: 'ABORTED', mayHaveHappened: false });
    expect(checks()).toBeLessThan(50);
  });
});
