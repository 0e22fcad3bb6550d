import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { evaluateRequests } from './evaluateRequests.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
/** Pays for less gas than a request turns out to need, but for more than any needs at least. */
const FEE = '1000000';
const signerOf = (index: number): Hex => `0x${String(index).padStart(40, '0')}`;
const idOf = (signer: string) => `r${Number(signer.slice(2))}`;

/** A write that names its place. @param by - whose key has signed it; default the signer's */
function write(
  index: number,
  { by = index, relayerFee = FEE }: { by?: number; relayerFee?: string } = {},
): RequestRecord {
  const signer = signerOf(index);
  const payload = `0xbeef${String(index).padStart(8, '0')}`;
  const params = { signer, cloudId: WORD, dataId: WORD, payload, relayerFee, timestamp: '1' };
  return {
    ...{ requestId: `r${index}`, chainName: 'c', action: 'WRITE_DATA_FOR', signer, status: 'pending' },
    ...{ params: { ...params, v: 27, r: `${signerOf(by)}${'00'.repeat(12)}`, s: WORD }, createdAt: '', updatedAt: '' },
  } as RequestRecord;
}

const LEFT = { kind: 'leave', reason: 'fee' };

interface Given {
  /** Requests of signers that have paid before. */
  readonly knownPayers?: readonly RequestRecord[];
  /** Called before a request is simulated. */
  readonly onSimulate?: (requestId: string) => void | Promise<void>;
  readonly reader?: Partial<ChainReader>;
  readonly state?: Partial<ChainState>;
  readonly nextUpdate?: () => Promise<void>;
  readonly listeners?: GivenContext['listeners'];
}

/** A relayer on a chain on which every fee is too small; `batches` are the ids of those whose nonces were asked for together. */
function makeRelayer({ knownPayers = [], onSimulate, reader, state, nextUpdate, listeners = [] }: Given = {}) {
  const batches: string[][] = [];
  const context = makeContext({
    chain: {
      reader: {
        async nonces(signers) {
          batches.push(signers.map(idOf));
          return new Map(signers.map((signer) => [signer, 0n]));
        },
        async simulate(data) {
          const index = /beef(\d{8})/.exec(data)?.[1];
          if (index !== undefined) await onSimulate?.(`r${Number(index)}`);
          return { gas: 5_000_000n, returned: '0x' };
        },
        extraCost: async () => ({ wei: 0n, gas: 0n }),
        code: async () => '0x',
        ...reader,
      },
      state: {
        head: async () => HEAD,
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n }),
        seconds: async () => 101n,
        finalitySeconds: async () => 1n,
        ...state,
      },
      // Who has signed stands in the signature.
      recoverSigner: async ({ r }) => r.slice(0, 42) as Hex,
    },
    ...(nextUpdate && { gateway: { queue: { nextUpdate } } }),
    policy: { creditsPerEth: 10n ** 18n },
    listeners,
  });
  const paying = knownPayers.map(({ signer }) => signer.toLowerCase());
  if (paying.length > 0) context.journal.addPaid(paying, 10n ** 9n);
  const { candidates } = context.gateway;
  return { context, candidates, batches, untrusted: context.inFlight.untrusted };
}

/** Holds back the simulations of some requests. @param isHeld - by request id */
function holdBack(isHeld: (requestId: string) => boolean) {
  const held = Promise.withResolvers<void>();
  return { onSimulate: (id: string) => (isHeld(id) ? held.promise : undefined), release: held.resolve };
}

// Shows RELAY-17.
test('who has paid before waits for no stranger, however many there are and however long theirs take', async () => {
  const known = Array.from({ length: 1000 }, (_, index) => write(index));
  const [knownPayers, later] = [[write(2000), write(2001)], write(2002)];
  const { onSimulate, release } = holdBack((id) => known.some(({ requestId }) => requestId === id));
  const { context, candidates, batches, untrusted } = makeRelayer({ knownPayers: [...knownPayers, later], onSimulate });
  const seen = candidates.see([...known, ...knownPayers], 0);
  await evaluateRequests(context, seen);
  const evaluated = () => seen.filter(({ verdict }) => verdict !== undefined);
  expect(evaluated().map(({ record }) => record)).toEqual(knownPayers);
  // The next ones of theirs come after them, and those in the meantime of one that has paid do not.
  const more = candidates.see([later], 0);
  await evaluateRequests(context, candidates.list());
  expect(more[0]?.verdict).toMatchObject(LEFT);
  release();
  await untrusted.last;
  expect(evaluated()).toHaveLength(102);
  // Signatures are proven in larger batches than the chain is asked for.
  expect(batches.map((ids) => ids.length).toSorted((a, b) => b - a)).toEqual([300, 100, 2, 1]);
  await evaluateRequests(context, candidates.list());
  expect(evaluated()).toHaveLength(202);
});

// Shows RELAY-17.
test('a flood in names that nobody can prove delays no stranger whose own key has signed', async () => {
  const flood = Array.from({ length: 2000 }, (_, index) => write(index, { by: 9999 }));
  const [honest, later] = [write(5000), write(5001)];
  const { context, candidates, batches, untrusted } = makeRelayer();
  candidates.see([...flood.slice(0, 1000), honest, ...flood.slice(1000)], 0);
  await evaluateRequests(context, candidates.list());
  // The names that came last and those that wait for longest were looked at; the honest one is in the middle.
  for (let round = 0; candidates.list().some(({ isProven }) => isProven === undefined); round += 1) {
    expect(round).toBeLessThan(10);
    await evaluateRequests(context, candidates.list());
  }
  await untrusted.last;
  // Each is proven when its nonce is asked for first.
  const proven = new Set<string>();
  const isProof = batches.map((ids) => {
    const isNew = ids.some((id) => !proven.has(id));
    for (const id of ids) proven.add(id);
    return isNew;
  });
  const sizes = (isWanted: boolean) => batches.filter((_, i) => isProof[i] === isWanted).map((ids) => ids.length);
  expect(Math.max(...sizes(true))).toBe(300);
  expect(batches.filter((ids, i) => !isProof[i] && ids.includes('r5000'))).toEqual([['r5000']]);
  // No more than a few of the flood are evaluated at a time, and one who comes now is the first of the next ones.
  expect(Math.max(...sizes(false))).toBe(25);
  const before = batches.length;
  candidates.see([later], 0);
  await evaluateRequests(context, candidates.list());
  await untrusted.last;
  expect(batches.slice(before, before + 2)).toEqual([['r5001'], ['r5001']]);
});

// Shows RELAY-17.
test('beside who has paid before, strangers take half of the time at most', async () => {
  const WORK_MS = 60;
  let evaluatedAtMs = 0;
  function onSimulate(requestId: string): void {
    if (requestId !== 'r1') return;
    const endMs = performance.now() + WORK_MS;
    while (performance.now() < endMs);
    evaluatedAtMs = performance.now();
  }
  const { context, candidates, untrusted } = makeRelayer({ knownPayers: [write(2000)], onSimulate });
  await evaluateRequests(context, candidates.see([write(1), write(2000)], 0));
  await untrusted.last;
  // Timers may be a millisecond early.
  expect(performance.now() - evaluatedAtMs).toBeGreaterThanOrEqual(WORK_MS - 2);
});

test('a round of strangers alone ends as soon as something new comes', async () => {
  const { onSimulate, release } = holdBack(() => true);
  const news = Promise.withResolvers<void>();
  const { context, candidates, untrusted } = makeRelayer({ onSimulate, nextUpdate: () => news.promise });
  const round = evaluateRequests(context, candidates.see([write(1)], 0));
  news.resolve();
  await round;
  expect(candidates.countReasons().get('seen')).toBe(1);
  release();
  await untrusted.last;
  expect(candidates.countReasons().get('seen')).toBe(0);
});

test('of strangers half the turns are those of the names that have come last', async () => {
  const { context, candidates, batches, untrusted } = makeRelayer();
  const records = Array.from({ length: 300 }, (_, index) => write(index));
  await evaluateRequests(context, candidates.see(records, 0));
  await untrusted.last;
  const [, asked] = batches;
  expect(asked).toEqual(expect.arrayContaining(['r0', 'r49', 'r250', 'r299']));
  expect(asked).toHaveLength(100);
});

test('a statically invalid request is refused before anything is asked of the chain', async () => {
  const junk = Array.from({ length: 400 }, (_, index) => write(index, index === 7 ? {} : { relayerFee: '1' }));
  const { context, candidates, batches, untrusted } = makeRelayer();
  await evaluateRequests(context, candidates.see(junk, 0));
  await untrusted.last;
  expect(new Set(batches.flat())).toEqual(new Set(['r7']));
  expect(candidates.countReasons().get('fee')).toBe(400);
});

test('a search for a nonce that has begun goes on, whatever has become of gas meanwhile', async () => {
  const { context, candidates, batches, untrusted } = makeRelayer();
  const seen = candidates.see([write(7, { relayerFee: '1' })], 0);
  for (const candidate of seen) candidates.recordVerdict(candidate, { kind: 'leave', reason: 'nonceUnknown' }, 0);
  await evaluateRequests(context, seen);
  await untrusted.last;
  // For the proof, and for the search.
  expect(batches).toHaveLength(2);
  expect(candidates.countReasons().get('fee')).toBe(1);
});

const refusal = new ChainError('RPC_UNAVAILABLE', 'The node refused eth_call.');

/** Collects what the health is notified of evaluating. */
function watchEvaluating() {
  const reported: (string | undefined)[] = [];
  const listener: NonNullable<Given['listeners']>[number] = (event) => {
    if (event.type === 'part-well' && event.part === 'evaluation') reported.push(undefined);
    if (event.type === 'part-failed' && event.part === 'evaluation') reported.push(event.reason);
  };
  return { reported, listeners: [listener] };
}

test.each<[string, Given]>([
  ['prices', { state: { head: () => Promise.reject(refusal) } }],
  ['nonces', { reader: { nonces: () => Promise.reject(refusal) } }],
])(
  'a node that does not tell what all are evaluated by makes the evaluation fail, and that is reported: %s',
  async (_, given) => {
    const { reported, listeners } = watchEvaluating();
    const { context, candidates } = makeRelayer({ ...given, listeners });
    await expect(evaluateRequests(context, candidates.see([write(1)], 0))).rejects.toThrow(ChainError);
    expect(reported).toEqual(['The node refused eth_call.']);
  },
);

test('the evaluation fails if the node does not simulate a harmless call either, and is well if only some cannot be evaluated', async () => {
  const { reported, listeners } = watchEvaluating();
  let isDown = true;
  const reader: Partial<ChainReader> = {
    async simulate(data) {
      if (isDown || data.includes('beef')) throw refusal;
      return { gas: 1n, returned: '0x' };
    },
  };
  const { context, candidates } = makeRelayer({ reader, knownPayers: [write(1), write(2)], listeners });
  await evaluateRequests(context, candidates.see([write(1)], 0));
  isDown = false;
  await evaluateRequests(context, candidates.see([write(2)], 0));
  expect(reported).toEqual(['The node refused eth_call.', undefined]);
  expect(candidates.countReasons().get('unevaluated')).toBe(2);
});

// Shows RELAY-23.
test('what cannot be written down counts as not evaluated', async () => {
  const { context, candidates, untrusted } = makeRelayer();
  const journal: typeof context.journal = {
    ...context.journal,
    recordVerdicts(evaluated) {
      if (evaluated.length > 0) throw new Error('The disk is full.');
    },
  };
  const seen = candidates.see([write(1), write(2)], 0);
  // What the chain has changed for its signer is still to be asked.
  candidates.touch(signerOf(2));
  await evaluateRequests({ ...context, journal }, seen).catch(() => undefined);
  await untrusted.last;
  expect(seen).toMatchObject([
    { verdict: undefined, isTouched: false },
    { verdict: undefined, isTouched: true },
  ]);
  untrusted.fault = undefined;
  await evaluateRequests(context, seen);
  await untrusted.last;
  expect(seen).toMatchObject([{ verdict: LEFT }, { verdict: LEFT }]);
});
