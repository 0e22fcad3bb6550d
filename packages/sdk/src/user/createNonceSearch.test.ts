import type { RequestRecord } from '@prism-gateway/protocol';
import { describe, expect, it } from 'vitest';
import { createNonceSearch } from './createNonceSearch.ts';

const DOMAIN = { chainId: 31_337, forwarder: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const;

/** A search among records that hold nonces, or none where they are forged; it counts the checks. */
function createSearch(nonces: readonly (bigint | undefined)[]) {
  let checks = 0;
  const search = createNonceSearch({
    domain: DOMAIN,
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

  it('finds what is behind forged records, in order, at one check each', async () => {
    const { find, checks } = createSearch([...FORGED, 0n, 1n, 2n]);
    for (const nonce of [0n, 1n, 2n]) expect(await find(nonce)).toBe(`request ${100n + nonce}`);
    expect(checks()).toBe(103);
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
