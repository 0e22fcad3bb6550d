import { createRecoverSigner } from '@prism-gateway/crypto/accounts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import type { Candidate } from './createCandidates.ts';
import { createGapQuestion, type GapPorts, giveUpBlocked } from './giveUpBlocked.ts';

const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const [chainId, forwarder] = [31_337, `0x${'f0'.repeat(20)}`] as const;
// In lower case, an address is hex still.
const signer = account.address.toLowerCase() as `0x${string}`;

async function sign(nonce: bigint) {
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: '1', timestamp: '5' };
  const action = 'WRITE_DATA_FOR';
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return createSignedParams({ action, params, signer: account.address, signature });
}

async function write(nonce: bigint, status = 'pending') {
  return { requestId: `write ${nonce}`, action: 'WRITE_DATA_FOR', status, params: await sign(nonce) };
}

/** A relayer whose gateway lists these requests for any signer; nonce 6 is ahead of 5. */
async function judge(
  items: readonly object[],
  { nowMs = 1000, ...known }: { nowMs?: number; missingNonce?: bigint | undefined } = {},
) {
  let lists = 0;
  const ports: GapPorts = {
    gateway: {
      async newestOf() {
        lists += 1;
        // What the question reads of a record.
        return items as readonly RequestRecord[];
      },
    },
    recovery: { chainId, forwarder, recoverSigner: createRecoverSigner() },
  };
  const context = { now: () => nowMs, policy: { giveUpMs: 1000 } };
  const isGapAwaited = createGapQuestion(ports);
  const gap = { signer, nonce: 5n };
  const ahead = { kind: 'leave', reason: 'nonceAhead', recheckAtMs: 0, errorMessage: 'ahead', gap } as const;
  const candidates = [1, 2].map(
    (): Pick<Candidate, 'verdict' | 'blockedSinceMs' | 'missingNonce'> => ({
      blockedSinceMs: 0,
      verdict: ahead,
      missingNonce: 5n,
      ...known,
    }),
  );
  const settled = await Promise.all(candidates.map((candidate) => giveUpBlocked(context, candidate, isGapAwaited)));
  return { kind: settled[0]?.kind ?? 'leave', blockedSinceMs: candidates[0]?.blockedSinceMs, lists };
}

// Shows RELAY-3.
it('waits as long as a request with the next nonce is open, and asks once for all that wait for it', async () => {
  const waiting = { kind: 'leave', blockedSinceMs: 1000, lists: 1 };
  expect(await judge([await write(6n), await write(5n)])).toEqual(waiting);
  expect(await judge([await write(5n, 'processing')])).toEqual(waiting);
  const params = { signer: `0x${'aa'.repeat(20)}`, requests: [await sign(9n), await sign(5n)] };
  expect(await judge([{ action: 'BATCH_MULTI_USER_WRITE_DATA', status: 'pending', params }])).toEqual(waiting);
});

it('gives up where none is, whatever else is queued in the signer’s name', async () => {
  const forged = { ...(await write(5n)), params: { ...(await sign(5n)), dataId: '0x0e' } };
  const others = [await write(6n), await write(7n), await write(5n, 'success'), forged];
  expect(await judge(others)).toMatchObject({ kind: 'settle', lists: 1 });
});

it.each([undefined, 4n])(
  'looks at the chain once more before it gives up, after nonce %s was missing',
  async (missingNonce) => {
    expect(await judge([], { missingNonce })).toEqual({ kind: 'leave', blockedSinceMs: 0, lists: 1 });
  },
);

it('asks nobody before its patience is over', async () => {
  expect(await judge([], { nowMs: 999 })).toEqual({ kind: 'leave', blockedSinceMs: 0, lists: 0 });
});
