import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { ChainError } from '../chain/chainError.ts';
import type { Verdict } from '../checks/verdict.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { createCandidates } from './createCandidates.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createInFlight } from './createInFlight.ts';
import { type JudgePorts, judgeRequests } from './judgeRequests.ts';

const WORD = `0x${'11'.repeat(32)}` as const;

function write(index: number): RequestRecord {
  const signer = `0x${String(index).padStart(40, '0')}` as const;
  const params = { signer, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: String(index), timestamp: '1' };
  return {
    ...{ requestId: `r${index}`, chainName: 'c', action: 'WRITE_DATA_FOR', signer, status: 'pending' },
    ...{ params: { ...params, v: 27, r: WORD, s: WORD }, createdAt: '', updatedAt: '' },
  } as RequestRecord;
}

const LEFT: Verdict = { kind: 'leave', reason: 'fee', recheckAtMs: 1000 };

/** What judging goes through. @param customers - requests of signers that have paid before */
function createPorts(customers: readonly RequestRecord[], given: Partial<JudgePorts>) {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const unjudged: string[] = [];
  const candidates = createCandidates();
  const ports: JudgePorts = {
    candidates,
    screen: async () => new Map(),
    prove: async (asked) => new Map(asked.map(({ record }) => [record.requestId, true])),
    check: async ({ candidates: asked }) => ({
      verdicts: new Map(asked.map(({ record }) => [record.requestId, LEFT])),
      failures: new Map(),
    }),
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    inFlight: createInFlight((error) => expect.unreachable(String(error))),
    policy: { giveUpMs: 1 },
    notes: createChainNotes({ metrics: createMetrics(['c']), chainName: 'c', log }),
    isCustomer: (signer) => customers.some((record) => record.signer === signer),
    noteFailures: async () => undefined,
    refusals: { note: () => undefined },
    counts: { current: () => new Map() },
    noteUnjudged: (reason) => void unjudged.push(reason),
    pickClaims: async () => 'idle',
    gateway: { newestOf: async () => [] },
    recovery: { chainId: 1, forwarder: WORD, recoverSigner: async () => WORD },
    strangers: { requestIds: new Set(), last: Promise.resolve(), isShared: false, fault: undefined },
    ...{ news: () => new Promise<void>(() => undefined), wake: () => undefined, now: () => 0 },
    ...given,
  };
  return { ports, candidates, unjudged };
}

/** A check whose answers for some requests are held back. @param isHeld - by request id */
function holdBack(isHeld: (requestId: string) => boolean) {
  const held = Promise.withResolvers<void>();
  const checks: { readonly ids: readonly string[]; readonly maxTries: number }[] = [];
  const check: JudgePorts['check'] = async ({ candidates, maxTries = 0 }) => {
    const ids = candidates.map(({ record }) => record.requestId);
    checks.push({ ids, maxTries });
    if (ids.some(isHeld)) await held.promise;
    return { verdicts: new Map(ids.map((id) => [id, LEFT])), failures: new Map() };
  };
  return { check, checks, release: held.resolve };
}

// Shows RELAY-17.
test('who has paid before waits for no stranger, however many there are and however long theirs take', async () => {
  const strangers = Array.from({ length: 1000 }, (_, index) => write(index));
  const [customers, later] = [[write(2000), write(2001)], write(2002)];
  const isStranger = (id: string) => strangers.some(({ requestId }) => requestId === id);
  const { check, checks, release } = holdBack(isStranger);
  const { ports, candidates } = createPorts([...customers, later], { check });
  const seen = candidates.see([...strangers, ...customers], 0);
  expect(await judgeRequests(ports, seen)).toBe('idle');
  expect(seen.filter(({ verdict }) => verdict !== undefined).map(({ record }) => record)).toEqual(customers);
  expect(checks.map(({ ids }) => ids.length)).toEqual([2, 100]);
  // Signatures that nobody has made are looked at for longer where nobody waits for it.
  expect(checks[1]?.maxTries).toBeGreaterThan(2 * (checks[0]?.maxTries ?? 0));
  // The next ones of theirs come after them, and those in the meantime of one that has paid do not.
  const more = candidates.see([later], 0);
  expect(await judgeRequests(ports, candidates.list())).toBe('idle');
  expect(more[0]?.verdict).toEqual(LEFT);
  expect(checks.slice(2).map(({ ids }) => ids)).toEqual([['r2002']]);
  release();
  await ports.strangers.last;
  expect(seen.filter(({ verdict }) => verdict !== undefined)).toHaveLength(102);
  await judgeRequests(ports, candidates.list());
  expect(seen.filter(({ verdict }) => verdict !== undefined)).toHaveLength(202);
});

// Shows RELAY-17.
test('a flood in names that nobody can prove delays no stranger whose own key has signed', async () => {
  const flood = Array.from({ length: 2000 }, (_, index) => write(index));
  const [honest, later] = [write(5000), write(5001)];
  const { check, checks } = holdBack(() => false);
  const proofs: number[] = [];
  const prove: JudgePorts['prove'] = async (asked) => {
    proofs.push(asked.length);
    return new Map(asked.map(({ record: { requestId } }) => [requestId, ['r5000', 'r5001'].includes(requestId)]));
  };
  const { ports, candidates } = createPorts([], { check, prove });
  candidates.see([...flood.slice(0, 1000), honest, ...flood.slice(1000)], 0);
  await judgeRequests(ports, candidates.list());
  // The names that came last and those that wait for longest were looked at; the honest one is in the middle.
  for (let round = 0; candidates.list().some(({ isProven }) => isProven === undefined); round += 1) {
    expect(round).toBeLessThan(10);
    await judgeRequests(ports, candidates.list());
  }
  await ports.strangers.last;
  expect(Math.max(...proofs)).toBe(300);
  expect(checks.filter(({ ids }) => ids.includes('r5000'))).toEqual([expect.objectContaining({ ids: ['r5000'] })]);
  // No more than a few of the flood are judged at a time, and one who comes now is the first of the next ones.
  expect(Math.max(...checks.map(({ ids }) => ids.length))).toBe(25);
  const before = checks.length;
  candidates.see([later], 0);
  await judgeRequests(ports, candidates.list());
  await ports.strangers.last;
  expect(checks[before]?.ids).toEqual(['r5001']);
});

// Shows RELAY-17.
test('beside who has paid before, strangers take half of the time at most', async () => {
  const WORK_MS = 60;
  let judgedAtMs = 0;
  const check: JudgePorts['check'] = async ({ candidates: asked }) => {
    const endMs = performance.now() + WORK_MS;
    while (performance.now() < endMs);
    judgedAtMs = performance.now();
    return { verdicts: new Map(asked.map(({ record }) => [record.requestId, LEFT])), failures: new Map() };
  };
  const { ports, candidates } = createPorts([write(2000)], { check });
  await judgeRequests(ports, candidates.see([write(1), write(2000)], 0));
  await ports.strangers.last;
  // Timers may be a millisecond early.
  expect(performance.now() - judgedAtMs).toBeGreaterThanOrEqual(WORK_MS - 2);
});

test('a round of strangers alone ends as soon as something new comes', async () => {
  const { check, release } = holdBack(() => true);
  const news = Promise.withResolvers<void>();
  const { ports, candidates } = createPorts([], { check, news: () => news.promise });
  const round = judgeRequests(ports, candidates.see([write(1)], 0));
  news.resolve();
  expect(await round).toBe('idle');
  expect(candidates.countReasons().get('seen')).toBe(1);
  release();
  await ports.strangers.last;
  expect(candidates.countReasons().get('seen')).toBe(0);
});

test('of strangers half the turns are those of the names that have come last', async () => {
  const { check, checks } = holdBack(() => false);
  const { ports, candidates } = createPorts([], { check });
  await judgeRequests(
    ports,
    candidates.see(
      Array.from({ length: 300 }, (_, index) => write(index)),
      0,
    ),
  );
  const asked = checks[0]?.ids ?? [];
  expect(asked).toEqual(expect.arrayContaining(['r0', 'r49', 'r250', 'r299']));
  expect(asked).toHaveLength(100);
});

test('what speaks against itself is judged before anything is asked of the chain', async () => {
  const junk = Array.from({ length: 400 }, (_, index) => write(index));
  const { check, checks } = holdBack(() => false);
  const screen: JudgePorts['screen'] = async (records) =>
    new Map(records.filter(({ requestId }) => requestId !== 'r7').map(({ requestId }) => [requestId, LEFT]));
  const { ports, candidates } = createPorts([], { screen, check });
  await judgeRequests(ports, candidates.see(junk, 0));
  expect(checks.map(({ ids }) => ids)).toEqual([['r7']]);
  expect(candidates.countReasons().get('fee')).toBe(400);
});

test.each(['screen', 'check'] as const)(
  'a node that does not tell what all are judged by makes judging fail, and that is told: %s',
  async (name) => {
    const { ports, candidates, unjudged } = createPorts([], {
      async [name]() {
        throw new ChainError('RPC_UNAVAILABLE', 'The node refused eth_call.');
      },
    });
    await expect(judgeRequests(ports, candidates.see([write(1)], 0))).rejects.toThrow(ChainError);
    expect(unjudged).toEqual(['The node refused eth_call.']);
  },
);
