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

/** What judging goes through. @param customers - requests of signers that have paid before */
function createPorts(customers: readonly RequestRecord[], check: JudgePorts['check']) {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const unjudged: string[] = [];
  const candidates = createCandidates();
  const ports: JudgePorts = {
    ...{ check, candidates },
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    inFlight: createInFlight((error) => expect.unreachable(String(error))),
    policy: { giveUpMs: 1 },
    notes: createChainNotes({ metrics: createMetrics(['c']), chainName: 'c', log }),
    isCustomer: (signer) => customers.some((record) => record.signer === signer),
    noteFailures: async () => undefined,
    noteUnjudged: (reason) => void unjudged.push(reason),
    pickClaims: async () => 'idle',
    gateway: { newestOf: async () => [] },
    recovery: { chainId: 1, forwarder: WORD, recoverSigner: async () => WORD },
    now: () => 0,
  };
  return { ports, candidates, unjudged };
}

/** Judges these requests. @returns which of them were checked, in their order, and how many nonces could be tried for them */
async function listChecked(records: readonly RequestRecord[], customers: readonly RequestRecord[]) {
  const checked: string[] = [];
  let tries = 0;
  const { ports, candidates } = createPorts(customers, async ({ candidates: asked, maxTries = 0 }) => {
    tries = maxTries;
    checked.push(...asked.map(({ record }) => record.requestId));
    const left: Verdict = { kind: 'leave', reason: 'fee', recheckAtMs: 1 };
    return { verdicts: new Map(checked.map((id) => [id, left])), failures: new Map() };
  });
  expect(await judgeRequests(ports, candidates.see(records, 0))).toBe('idle');
  return { checked, tries };
}

// Shows RELAY-17.
test('who has paid before is judged first, and few strangers beside it, however many there are', async () => {
  const strangers = Array.from({ length: 1000 }, (_, index) => write(index));
  const customers = [write(2000), write(2001)];
  const { checked, tries } = await listChecked([...strangers, ...customers], customers);
  expect(new Set(checked.slice(0, 2))).toEqual(new Set(['r2000', 'r2001']));
  expect(checked.length).toBe(27);
  // Where there are strangers alone, they have more of a round.
  const alone = await listChecked(strangers, customers);
  expect(alone.checked.length).toBe(100);
  // Signatures that nobody has made are looked at for longer then, too.
  expect(alone.tries).toBeGreaterThan(2 * tries);
});

test('a node that does not tell what all checks go by makes judging fail, and that is told', async () => {
  const { ports, candidates, unjudged } = createPorts([], async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node refused eth_call.');
  });
  await expect(judgeRequests(ports, candidates.see([write(1)], 0))).rejects.toThrow(ChainError);
  expect(unjudged).toEqual(['The node refused eth_call.']);
});
