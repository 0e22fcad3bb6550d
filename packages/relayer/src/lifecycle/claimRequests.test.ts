import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError } from '@prism-gateway/sdk';
import { expect, test } from 'vitest';
import { type GivenContext, makeCandidates, makeContext } from '../../test/makeContext.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import type { Claimable } from './candidates.ts';
import { claimRequests } from './claimRequests.ts';

const WORD = `0x${'11'.repeat(32)}` as const;

/** A request that pays. @param follows - the nonce right before its own, of the same run */
function claimable(requestId: string, signer: `0x${string}`, { nonce, follows }: { nonce: bigint; follows?: bigint }) {
  const record = {
    ...{ requestId, chainName: 'c', action: 'WRITE_DATA_FOR', signer, status: 'pending' },
    ...{ params: { signer, v: 27, r: WORD, s: WORD }, createdAt: '', updatedAt: '' },
  } as unknown as RequestRecord;
  const [candidate] = makeCandidates().see([record], 0);
  const verdict = { kind: 'ready', gas: 1n, feeWei: 1n, stake: 1n, signatures: [{ signer, nonce, r: WORD, s: WORD }] };
  return Object.assign(candidate!, { verdict: { ...verdict, follows } }) as unknown as Claimable;
}

/** @param gone - what rivals have claimed: a look shows it; undefined: the gateway does not answer */
function makeRelayer(
  gone: () => readonly string[] | undefined,
  given: Pick<GivenContext, 'budgets'> & { readonly onClaim?: () => void } = {},
) {
  const claimed: string[][] = [];
  const advanced: string[] = [];
  const looked: string[][] = [];
  const context = makeContext({
    gateway: {
      queue: {
        async dropClaimed(list) {
          looked.push(list.map(({ record }) => record.requestId));
          const missing = gone();
          if (missing === undefined) throw new GatewayError({ message: 'does not answer', kind: 'NETWORK_FAILED' });
          return list.filter(({ record }) => !missing.includes(record.requestId));
        },
      },
      async claim(ids) {
        given.onClaim?.();
        claimed.push([...ids]);
        return new Map(ids.map((id): [string, ClaimResult] => [id, 'won']));
      },
    },
    ...(given.budgets && { budgets: given.budgets }),
    advance: (ids) => void advanced.push(...ids),
  });
  return { context, claimed, advanced, looked };
}

const A = `0x${'aa'.repeat(20)}` as const;
const B = `0x${'bb'.repeat(20)}` as const;
const C = `0x${'cc'.repeat(20)}` as const;

test('what a rival has claimed since it was picked costs no conflict, and the others are claimed', async () => {
  const { context, claimed, advanced, looked } = makeRelayer(() => ['a', 'c']);
  const picked = [claimable('a', A, { nonce: 0n }), claimable('b', B, { nonce: 0n }), claimable('c', C, { nonce: 0n })];
  await claimRequests(context, picked);
  expect(claimed).toEqual([['b']]);
  expect(advanced).toEqual(['b']);
  // Each burst right before it is claimed, not all of them long before.
  expect(looked).toEqual([['a', 'b'], ['c']]);
});

test('what goes right after it in its run is left, too', async () => {
  const { context, claimed } = makeRelayer(() => ['a1']);
  await claimRequests(context, [
    ...[claimable('a1', A, { nonce: 1n }), claimable('b1', B, { nonce: 1n })],
    ...[claimable('a2', A, { nonce: 2n, follows: 1n }), claimable('b2', B, { nonce: 2n, follows: 1n })],
    claimable('a3', A, { nonce: 3n, follows: 2n }),
  ]);
  expect(claimed.flat()).toEqual(['b1', 'b2']);
});

test('where the gateway cannot tell, nothing more is claimed, and what was won goes on', async () => {
  let looks = 0;
  const { context, claimed, advanced } = makeRelayer(() => (looks++ === 0 ? [] : undefined));
  const signers = Array.from({ length: 9 }, (_, i) => `0x${`${i}${i}`.repeat(20)}` as const);
  await claimRequests(
    context,
    signers.map((signer, i) => claimable(`r${i}`, signer, { nonce: 0n })),
  );
  expect(claimed).toEqual([['r0', 'r1']]);
  expect(advanced).toEqual(['r0', 'r1']);
});

test('without rivals nothing is looked at twice', async () => {
  const { context, claimed, looked } = makeRelayer(() => undefined);
  const { claimRate } = context.inFlight;
  while (claimRate.share < 1) claimRate.recordWaiting();
  await claimRequests(context, [claimable('a', A, { nonce: 0n })]);
  expect({ claimed, looked }).toEqual({ claimed: [['a']], looked: [] });
});

test('what is to be evaluated anew by the time that its burst comes is left, and what was won goes on', async () => {
  const picked = [A, B, C, `0x${'dd'.repeat(20)}` as const].map((signer, i) =>
    claimable(`r${i}`, signer, { nonce: 0n }),
  );
  // A block comes while the first of them are claimed.
  const onClaim = () => void Object.assign(picked[2]!, { verdict: undefined });
  const { context, claimed, advanced } = makeRelayer(() => [], { onClaim });
  await claimRequests(context, picked);
  expect(claimed).toEqual([['r0', 'r1'], ['r3']]);
  expect(advanced).toEqual(['r0', 'r1', 'r3']);
});

test('a defect strands nothing of what was won before it', async () => {
  const budgets = {
    hold({ requestId }: { readonly requestId: string }) {
      if (requestId === 'r2') throw new TypeError('a defect');
      return true;
    },
    release: () => undefined,
  };
  const { context, advanced } = makeRelayer(() => [], { budgets });
  const picked = [A, B, C].map((signer, i) => claimable(`r${i}`, signer, { nonce: 0n }));
  await expect(claimRequests(context, picked)).rejects.toThrow('a defect');
  expect(advanced).toEqual(['r0', 'r1']);
});
