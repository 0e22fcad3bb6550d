import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError, type ListFilter, type RelayerClient } from '@prism-gateway/sdk';
import { expect, it } from 'vitest';
import { createMetrics } from '../metrics/createMetrics.ts';
import { createCandidates } from '../queue/candidates.ts';
import { createPendingQueue } from '../queue/listPending.ts';
import { createPace } from '../queue/pace.ts';
import type { Relay } from '../relay.ts';
import { createDesk } from './desk.ts';
import { runRound } from './runRound.ts';

const PAGE = 100;
const WORD = `0x${'11'.repeat(32)}` as const;
const FORWARDER = `0x${'f0'.repeat(20)}` as const;

/** A write whose signer tells what becomes of it. */
function write(index: number, kind: 'junk' | 'good'): RequestRecord {
  const signer = `0x${kind === 'good' ? 'bb' : 'aa'}${String(index).padStart(38, '0')}`;
  const params = { cloudId: '0x01', dataId: '0x01', payload: '0x', relayerFee: '1000000000000000000', timestamp: '1' };
  return {
    ...{ requestId: `${kind} ${index}`, chainName: 'c', action: 'WRITE_DATA_FOR', signer, status: 'pending' },
    ...{
      params: { ...params, signer, v: 27, r: `${signer}${'00'.repeat(12)}`, s: WORD },
      createdAt: '',
      updatedAt: '',
    },
  } as RequestRecord;
}

/** A relayer on a chain where junk reverts; its gateway lists these requests, and gives none of its claims. */
function createRelay(records: readonly RequestRecord[]) {
  const clock = { nowMs: 0 };
  const claimed: string[] = [];
  const gateway = {
    list: (_: ListFilter) => ({
      async page(lastKey?: string | null) {
        const start = Number(lastKey ?? 0);
        const end = start + PAGE;
        return { items: records.slice(start, end), lastKey: end < records.length ? String(end) : null };
      },
    }),
    async claim(requestId: string) {
      claimed.push(requestId);
      throw new GatewayError({ code: 'CONFLICT', message: 'another was first' });
    },
  } as unknown as RelayerClient;
  const head = { number: 1n, timestamp: 1n, gasPrice: 1n, gasReserve: 1n };
  const forwarder = { isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n };
  const state = { balance: async () => 10n ** 18n, head: async () => head, policy: async () => forwarder };
  const simulate = async (data: string) =>
    data.includes('bb000') ? { gas: 100_000n, returned: '0x' } : { reverted: '0x' };
  const nonces = async (signers: readonly string[]) => new Map(signers.map((signer) => [signer, 0n]));
  // A round takes so long that the page is read again before a claim.
  const now = () => {
    clock.nowMs += 5;
    return clock.nowMs;
  };
  const relay = {
    ...{ gateway, chainId: 1, random: () => 0.5, now, signal: new AbortController().signal },
    settings: { chainName: 'c', maxInFlight: 128, maxFeePerGas: 10n ** 12n, creditsPerEth: 10n ** 18n },
    policy: { actions: new Set(['WRITE_DATA_FOR']), maxSponsorCredits: 0n, feeMarginPercent: 0, giveUpMs: 120_000 },
    chain: { forwarder: FORWARDER, nonces, simulate },
    state: { ...state, seconds: async () => 2n },
    recoverSigner: async ({ r }: { r: string }) => r.slice(0, 42),
    journal: { begin: () => undefined, move: () => undefined },
    desk: createDesk((error) => expect.unreachable(String(error))),
    candidates: createCandidates(),
    ...{ pace: createPace(), metrics: createMetrics(), logger: { warn: () => undefined } },
    // Only what a round reads is there.
  } as unknown as Relay;
  return { relay, clock, claimed };
}

it('comes to what stands behind pages full of requests that nobody takes', async () => {
  const junk = Array.from({ length: 2 * PAGE + 10 }, (_, i) => write(i, 'junk'));
  const records = [...junk];
  const { relay, clock, claimed } = createRelay(records);
  const queue = createPendingQueue(relay.gateway, { chainName: 'c', signal: relay.signal });
  const turn = { last: Promise.resolve() };
  for (let round = 0; round < 20; round += 1) {
    if (round === 4) records.push(write(1, 'good'));
    // The pause of an idle relayer: longer than the one before it looks again at what would revert.
    clock.nowMs += 2000;
    await runRound(relay, queue, turn);
    await turn.last;
    if (claimed.length > 0) break;
  }
  expect(claimed).toEqual(['good 1']);
});
