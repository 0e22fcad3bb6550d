import { expect, onTestFinished, test, vi } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { advanceRequests } from './advanceRequests.ts';
import type { RelayerContext } from './context.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;

function claimedRequest(requestId: string, payload: `0x${string}`) {
  const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
  const params = { cloudId: WORD, dataId: WORD, payload, relayerFee: '1', timestamp: '1', ...signature };
  const record = { requestId, action: 'WRITE_DATA_FOR', signer: SIGNER, params, createdAt: '' } as const;
  return { requestId, record, signatures: [], gas: 50_000n, claimedAtMs: 0 };
}

test('one request that brings a defect to light holds up none that are handled with it', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const faults: string[] = [];
  const context: RelayerContext = makeContext({
    chain: {
      reader: {
        async simulate(data) {
          if (data.includes('bad0')) throw new TypeError('a defect');
          return { gas: 50_000n, returned: '0x' };
        },
        extraCost: async () => ({ wei: 0n, gas: 0n }),
      },
      state: {
        head: async () => HEAD,
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1n, shareBps: 10_000n }),
        seconds: async () => 1n,
      },
      sender: { get: () => undefined, send: () => new Promise(() => undefined) },
    },
    policy: { maxBatchSize: 1, creditsPerEth: 1n },
    listeners: [(event) => 'where' in event && faults.push(event.where)],
    advance: (requestIds) => advanceRequests(context, { requestIds }),
    signal: stop.signal,
  });
  const { journal, inFlight, advance } = context;
  const ids = ['poison', 'a', 'b'];
  for (const requestId of ids) {
    journal.adopt(claimedRequest(requestId, requestId === 'poison' ? '0xbad0' : '0x'));
    inFlight.note(requestId, { kind: 'ready', gas: 50_000n, feeWei: 10n ** 18n });
  }
  advance(ids);
  const states = () => ids.map((id) => journal.get(id)?.state);
  await vi.waitFor(() => expect(states()).toEqual(['claimed', 'submitted', 'submitted']), { timeout: 60_000 });
  // Once with the others, and once by itself.
  expect(faults).toEqual(['work', 'work']);
});

// Shows RELAY-7.
test('what is claimed and cannot be written down is given back; once it can be, the gateway is asked whose it is', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const released: string[] = [];
  const context: RelayerContext = makeContext({
    gateway: {
      async release(requestId) {
        released.push(requestId);
        if (released.length === 1) throw new TypeError('the key cannot sign');
        return 'released';
      },
      read: async () => undefined,
    },
    advance: (requestIds) => advanceRequests(context, { requestIds }),
    signal: stop.signal,
  });
  const { journal, inFlight, advance } = context;
  journal.adopt(claimedRequest('a', '0x'));
  const full = vi.spyOn(journal, 'move').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR' });
  });
  advance(['a']);
  await vi.waitFor(() => expect(released).toEqual(['a', 'a']), { timeout: 60_000 });
  expect(journal.get('a')?.state).toBe('claimed');
  full.mockRestore();
  await vi.waitFor(() => expect(journal.get('a')).toBeUndefined(), { timeout: 60_000 });
  expect(inFlight.has('a')).toBe(false);
  expect(released).toHaveLength(2);
});
