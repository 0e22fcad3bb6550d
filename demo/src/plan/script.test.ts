import { ACTIONS } from '@prism-gateway/protocol';
import type { Address } from 'viem';
import { describe, expect, it } from 'vitest';
import { MIN_OWN_REQUESTS, MULTI_USER_BATCHES, planScript } from './script.ts';

const plan = (users: number, requests: number) =>
  planScript({
    users: Array.from({ length: users }, (_, index): Address => `0x${String(index + 1).padStart(40, '0')}`),
    creditsPerUser: 10n ** 24n,
    protocolFee: 10n ** 18n,
    requests,
  });

describe.each([
  { users: 2, requests: 2 * MIN_OWN_REQUESTS + MULTI_USER_BATCHES },
  { users: 10, requests: 200 },
  { users: 3, requests: 3 * 60 + MULTI_USER_BATCHES },
])('a plan of $requests requests of $users users', ({ users, requests }) => {
  const { counts, expected } = plan(users, requests);

  it('has so many requests, over all twelve actions', () => {
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(requests);
    expect(new Set(counts.keys())).toEqual(new Set(ACTIONS));
  });

  it('has a nonce for each signature, and credits enough for all fees', () => {
    const signatures = requests - MULTI_USER_BATCHES + MULTI_USER_BATCHES * users;
    expect(expected.nonces.reduce((sum, nonce) => sum + nonce, 0n)).toBe(BigInt(signatures));
    for (const { balance } of expected.prisms.values()) expect(balance).toBeGreaterThanOrEqual(0n);
    for (const credits of expected.credits) expect(credits).toBeGreaterThanOrEqual(0n);
  });

  it('loses no credit', () => {
    const balances = [...expected.prisms.values()].reduce((sum, { balance }) => sum + balance, 0n);
    const credits = expected.credits.reduce((sum, amount) => sum + amount, 0n);
    expect(credits + balances + expected.relayerFees + expected.protocolFees).toBe(BigInt(users) * 10n ** 24n);
  });
});
