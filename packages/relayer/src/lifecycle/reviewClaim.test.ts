import { forwarderAbi } from '@prism-gateway/contracts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { encodeErrorResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD, STATE } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import type { RelayerGateway } from './context.ts';
import { reviewClaim } from './reviewClaim.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const GIVE_UP_MS = 5000;
const REASON = 'InvalidSignature(…, 6)';
const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
const params = { cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1', ...signature };
const record = { requestId: 'r', action: 'WRITE_DATA_FOR', signer: SIGNER, params, createdAt: '' } as const;
const NONCE = 7n;
/** The signer's forwarder nonce on the chain: it is the request's turn, or not yet. */
const [READY, AHEAD] = [NONCE, NONCE - 1n];

/** A claimed request of a chain on which its signer's nonce is another one at each look. @param onLook - called as a look begins */
function setUp(
  nonces: readonly bigint[],
  open: readonly RequestRecord[] = [],
  onLook: (look: number) => void = () => undefined,
  gateway: Partial<RelayerGateway> = { release: async () => 'absent' },
) {
  const clock = { nowMs: 0, asked: 0 };
  const context = makeContext({
    chain: {
      reader: {
        async nonces(signers) {
          // Once for what became of the request, and once for its check.
          clock.asked += 1;
          const look = Math.ceil(clock.asked / 2);
          if (clock.asked % 2 === 1) onLook(look);
          return new Map(signers.map((signer) => [signer, nonces[look - 1] ?? READY]));
        },
        block: async () => HEAD,
        simulate: async () => ({ gas: 1n, returned: '0x' }),
        extraCost: async () => ({ wei: 0n, gas: 0n }),
      },
      state: STATE,
      recoverSigner: async () => SIGNER,
    },
    gateway: { newestOf: async () => open, ...gateway },
    policy: { giveUpMs: GIVE_UP_MS, maxHeadAgeSeconds: 0, creditsPerEth: 1n },
    now: () => clock.nowMs,
  });
  const { journal, inFlight } = context;
  const signatures = [{ signer: SIGNER, nonce: NONCE, r: WORD, s: WORD }];
  journal.adopt({ requestId: 'r', record, signatures, gas: 1n, claimedAtMs: 0 });
  for (const request of journal.open()) inFlight.take(request);
  return { context, clock, journal, inFlight };
}

// Shows RELAY-16.
test('what was refused for the chain as it was then is not reported failed when its turn has come', async () => {
  const { context, clock, journal, inFlight } = setUp([AHEAD, READY]);
  inFlight.note('r', { kind: 'blocked', sinceMs: 9000, refusal: { reason: REASON, sinceMs: 0, lastMs: 0 } });
  clock.nowMs = 10_000;
  expect(await reviewClaim(context, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(inFlight.status('r')).toMatchObject({ kind: 'ready' });
  expect(inFlight.status('r')?.refusal).toBeUndefined();
});

// Shows RELAY-16.
test('what looks well and is refused again and again is given up after the same patience', async () => {
  const { context, clock, journal, inFlight } = setUp([READY, READY]);
  clock.nowMs = GIVE_UP_MS;
  // It took long until it was looked at: that is not its fault.
  inFlight.note('r', { kind: 'blocked', sinceMs: 0, refusal: { reason: REASON, sinceMs: 0, lastMs: 0 } });
  expect(await reviewClaim(context, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  inFlight.note('r', { kind: 'blocked', sinceMs: 0, refusal: { reason: REASON, sinceMs: 0, lastMs: GIVE_UP_MS } });
  expect(await reviewClaim(context, journal.open())).toEqual(['r']);
  expect(journal.get('r')).toMatchObject({ state: 'finalized', outcome: { status: 'failed', errorMessage: REASON } });
});

// Shows RELAY-20.
test('what was carried out between two questions, by whomever, is not reported failed for a used nonce', async () => {
  const { context, clock, journal, inFlight } = setUp([]);
  inFlight.note('r', { kind: 'blocked', sinceMs: 0 });
  const { chain } = context;
  // Open as the chain is asked for it, used as it is checked; then a reorganisation undoes that, and it can be sent.
  const atAsk = [READY, NONCE + 1n, NONCE + 1n];
  const nonces = async (signers: readonly Hex[]) => {
    const nonce = atAsk[clock.asked++] ?? READY;
    return new Map(signers.map((signer) => [signer, nonce]));
  };
  const nodes = chain.nodes.map((node) => ({ ...node, reader: Object.assign(node.reader, { nonces }) }));
  const undone = { ...context, chain: { ...chain, nodes, reader: Object.assign(chain.reader, { nonces }) } };
  expect(await reviewClaim(undone, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(inFlight.status('r')).toMatchObject({ kind: 'ready' });
});

// Shows RELAY-3.
test('whose turn has not come is given up only once no open request goes before it, at two looks', async () => {
  const before = { ...record, requestId: 'before', chainName: 'a', status: 'processing' } as unknown as RequestRecord;
  const open = [before];
  const looked: string[] = [];
  function onLook(look: number): void {
    looked.push(open.length === 0 ? 'ended' : 'open');
    // The one before it ends after the second look, however long each of them took.
    if (look === 3) open.pop();
    clock.nowMs += 2 * GIVE_UP_MS;
  }
  const { context, clock, journal, inFlight } = setUp([AHEAD, AHEAD, AHEAD, AHEAD], open, onLook);
  inFlight.note('r', { kind: 'blocked', sinceMs: 1 });
  expect(await reviewClaim(context, journal.open())).toEqual(['r']);
  const errorMessage = expect.stringMatching(/^out of nonce order/);
  expect(journal.get('r')).toMatchObject({ state: 'finalized', outcome: { status: 'failed', errorMessage } });
  // Four, and the question before the end.
  expect(looked).toHaveLength(5);
});

// Shows RELAY-16.
test.each(['released', 'absent'] as const)(
  'what can be sent once its lease is over is given back first (%s)',
  async (answer) => {
    let hasLeases = true;
    const gateway: Partial<RelayerGateway> = {
      async release() {
        hasLeases = answer !== 'absent';
        return answer;
      },
      hasLeases: () => hasLeases,
    };
    const { context, clock, journal, inFlight } = setUp([READY, READY], [], undefined, gateway);
    clock.nowMs = context.policy.leaseMs;
    inFlight.note('r', { kind: 'blocked', sinceMs: clock.nowMs });
    // A gateway that knows no release has claims that hold for ever.
    const goesOn = answer === 'absent';
    expect(await reviewClaim(context, journal.open())).toEqual(goesOn ? ['r'] : []);
    expect(journal.get('r')?.state).toBe(goesOn ? 'claimed' : undefined);
    expect(inFlight.status('r')?.kind).toBe(goesOn ? 'ready' : undefined);
  },
);

// Shows RELAY-16.
test.each(['disagree', 'are silent'])(
  'while the nodes %s a request is given back once its lease is over: nobody holds it without end',
  async (fault) => {
    const { context, clock, journal, inFlight } = setUp([], [], undefined, { release: async () => 'released' });
    inFlight.note('r', { kind: 'blocked', sinceMs: 0 });
    const { chain } = context;
    const readerAt = (nonce: bigint) => ({
      ...chain.reader,
      // What the account says yes to, its code decides.
      code: async () => '0x01' as const,
      async nonces(signers: readonly Hex[]) {
        if (fault === 'are silent') throw new ChainError('RPC_UNAVAILABLE', 'no node answers');
        return new Map(signers.map((signer) => [signer, nonce]));
      },
      head: async () => HEAD,
    });
    const nodes = [NONCE, NONCE + 1n].map((nonce) => ({
      ...(chain.nodes[0] as (typeof chain.nodes)[number]),
      ...{ reader: readerAt(nonce), findExecution: async () => undefined },
    }));
    const disputed = { ...context, chain: { ...chain, nodes, reader: readerAt(NONCE + 1n) } };
    clock.nowMs = context.policy.leaseMs;
    expect(await reviewClaim(disputed, journal.open())).toEqual([]);
    expect(journal.get('r')).toBeUndefined();
  },
);

// Shows RELAY-3.
test.each([
  ['the nonce that was missing', AHEAD, 'finalized'],
  ['another one, since that one is used', AHEAD - 1n, undefined],
] as const)(
  'who posts an earlier nonce in the moment between claim and report has no claim held idle: %s',
  async (_, nonce, state) => {
    const late = { ...record, requestId: 'late', chainName: 'a', status: 'pending' } as unknown as RequestRecord;
    const release: Partial<RelayerGateway> = { release: async () => 'released' };
    const { context, clock, journal, inFlight } = setUp(Array<bigint>(9).fill(AHEAD), [late], undefined, release);
    clock.nowMs = GIVE_UP_MS;
    inFlight.note('r', { kind: 'blocked', sinceMs: 0, missing: { signer: SIGNER, nonce } });
    const { chain } = context;
    const [head, code] = [async () => HEAD, async () => '0x' as const];
    // A node that says that it would revert, for that nonce.
    const reverted = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [SIGNER, AHEAD] });
    const nodes = [1, 2].map(() => ({
      ...(chain.nodes[0] as (typeof chain.nodes)[number]),
      ...{
        reader: { ...chain.reader, head, code, simulate: async () => ({ reverted }) },
        findExecution: async () => undefined,
      },
    }));
    const asked = { ...context, chain: { ...chain, nodes } };
    expect(await reviewClaim(asked, journal.open())).toEqual(state === undefined ? [] : ['r']);
    expect(journal.get('r')?.state).toBe(state);
  },
);
