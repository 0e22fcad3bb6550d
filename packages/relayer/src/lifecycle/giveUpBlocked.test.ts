import { createRecoverSigner } from '@prism-gateway/node/accounts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import type { GapState, NonceGap } from '../checks/leaveReasons.ts';
import { createGapQuestion, giveUpBlocked } from './giveUpBlocked.ts';

const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const [chainId, forwarder] = [31_337, `0x${'f0'.repeat(20)}`] as const;
// In lower case, an address is hex still.
const signer = account.address.toLowerCase() as `0x${string}`;

const other = privateKeyToAccount(`0x${'33'.repeat(32)}`);

async function sign(nonce: bigint, by = account) {
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: '1', timestamp: '5' };
  const action = 'WRITE_DATA_FOR';
  const signature = await by.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return createSignedParams({ action, params, signer: by.address, signature });
}

async function write(nonce: bigint, status = 'pending', updatedAtMs = 0) {
  const updatedAt = new Date(updatedAtMs).toISOString();
  return { requestId: `write ${nonce}`, action: 'WRITE_DATA_FOR', status, updatedAt, params: await sign(nonce) };
}

const batch = (requestId: string, requests: readonly object[]) =>
  ({ requestId, action: 'BATCH_MULTI_USER_WRITE_DATA', status: 'pending', params: { requests } }) as const;

/** The forwarder nonces that open requests wait for. */
type Gaps = Readonly<Record<string, NonceGap>>;

/** A relayer whose gateway lists these requests for any signer; nonce 6 is ahead of 5. */
async function evaluate(
  items: readonly object[],
  given: { nowMs?: number; gapState?: GapState | null; gap?: bigint; gaps?: Gaps } = {},
) {
  const { nowMs = 1000, gapState = 'missing', gap = 5n, gaps = {} } = given;
  let lists = 0;
  const context = makeContext({
    chain: { chainId, forwarder, recoverSigner: createRecoverSigner() },
    gateway: {
      async newestOf() {
        lists += 1;
        // What the question reads of a record.
        return items as readonly RequestRecord[];
      },
    },
    ...{ policy: { giveUpMs: 1000 }, now: () => nowMs },
  });
  for (const [requestId, ahead] of Object.entries(gaps)) {
    const record = { requestId, signer, action: 'BATCH_MULTI_USER_WRITE_DATA' } as const;
    const verdict = { kind: 'leave', reason: 'nonceAhead', gap: ahead } as const;
    context.journal.recordVerdicts([{ record, verdict, sinceMs: 0, recheckAtMs: 9, nowMs: 0 }]);
  }
  const isGapAwaited = createGapQuestion(context);
  const verdict = { kind: 'leave', reason: 'nonceAhead', errorMessage: 'ahead', gap: { signer, nonce: 5n } } as const;
  const wait = { reason: 'nonceAhead', gap: `${gap} of ${signer}`, gapState, sinceMs: 0 } as const;
  const found = [1, 2].map(() => giveUpBlocked(context, { wait, verdict }, isGapAwaited));
  const [evaluated] = await Promise.all(found);
  return { kind: evaluated?.kind, ...(evaluated?.kind === 'leave' && { gapState: evaluated.gapState }), lists };
}

// Shows RELAY-3.
it('waits as long as a request with the next nonce is open, and asks once for all that wait for it', async () => {
  const waiting = { kind: 'leave', gapState: 'awaited', lists: 1 };
  expect(await evaluate([await write(6n), await write(5n)])).toEqual(waiting);
  expect(await evaluate([await write(5n, 'processing')])).toEqual(waiting);
  expect(await evaluate([batch('many', [await sign(9n), await sign(5n)])])).toEqual(waiting);
});

// Shows RELAY-3.
it('gives up what waits for a request that waits for it in turn, or for itself, unless another one has that nonce', async () => {
  const theirs = other.address.toLowerCase() as `0x${string}`;
  const one = batch('one', [await sign(5n), await sign(8n, other)]);
  const two = batch('two', [await sign(7n, other), await sign(6n)]);
  const gaps = { one: { signer: theirs, nonce: 7n }, two: { signer, nonce: 5n } };
  expect(await evaluate([one, two], { gaps })).toMatchObject({ kind: 'hopeless', lists: 2 });
  expect(await evaluate([one], { gaps: { one: gaps.two } })).toMatchObject({ kind: 'hopeless', lists: 1 });
  const waiting = { kind: 'leave', gapState: 'awaited' };
  expect(await evaluate([one, two, await write(5n)], { gaps })).toMatchObject(waiting);
  expect(await evaluate([one], { gaps })).toMatchObject({ ...waiting, lists: 2 });
});

it('gives up where none is, whatever else is queued in the signer’s name', async () => {
  const forged = { ...(await write(5n)), params: { ...(await sign(5n)), dataId: '0x0e' } };
  const others = [await write(6n), await write(7n), await write(5n, 'failed'), forged];
  expect(await evaluate(others)).toMatchObject({ kind: 'hopeless', lists: 1 });
});

// Shows RELAY-3.
it('waits a quarter of an hour for a nonce that was used by the gateway’s word alone: a lie is found, a reorganisation comes back', async () => {
  const reported = await write(5n, 'success', 1_000_000);
  expect(await evaluate([reported], { nowMs: 1_899_999 })).toMatchObject({ kind: 'leave', gapState: 'awaited' });
  expect(await evaluate([reported], { nowMs: 1_900_000 })).toMatchObject({ kind: 'hopeless' });
});

it.each([null, 'awaited'] as const)('looks at the chain once more before it gives up, after %s', async (gapState) => {
  expect(await evaluate([], { gapState })).toEqual({ kind: 'leave', gapState: 'missing', lists: 1 });
});

it('asks nobody again before its patience is over, and has it anew for another nonce', async () => {
  expect(await evaluate([], { nowMs: 999 })).toEqual({ kind: 'leave', gapState: 'missing', lists: 0 });
  expect(await evaluate([], { gap: 4n })).toEqual({ kind: 'leave', gapState: undefined, lists: 1 });
});

it('knows from the first look that a request with the next nonce is open: what comes of that one begins its patience anew', async () => {
  const open = [await write(5n)];
  expect(await evaluate(open, { nowMs: 1, gapState: null })).toEqual({ kind: 'leave', gapState: 'awaited', lists: 1 });
});
