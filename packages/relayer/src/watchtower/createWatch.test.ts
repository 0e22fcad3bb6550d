import type { RequestRecord } from '@prism-gateway/protocol';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { BLOCK_SECONDS, START, startWatchRig, TX } from '../../test/watchRig.ts';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import { createWatch } from './createWatch.ts';
import { openWatchJournal } from './journal/openWatchJournal.ts';
import type { WatchOptions } from './watchContext.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const [SIGNER, RELAYER, FORWARDER] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}` as const) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const at = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Reported as done once the watch had begun, in a transaction that nobody has seen. */
const LIE = {
  ...{ requestId: 'lie', chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, status: 'success', txHash: WORD },
  ...{ claimedBy: RELAYER, claimedAt: at(800), createdAt: at(700), updatedAt: at(1001) },
  params: {
    ...{ signer: SIGNER, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '700' },
    ...{ v: 27, r: WORD, s: WORD },
  },
} as RequestRecord;

/** A watch that has seen a few blocks since; its alerts fail until they are mended. */
function startWatch() {
  const journal = openWatchJournal({ path: ':memory:', now: () => 1_000_000 });
  const alerts = { raised: [] as string[], isBroken: true };
  let number = 10n;
  const rpc: ReadRpc = {
    // It is asked for transaction counts, and for a receipt that there is not.
    read: async ([method], parse) => parse(method === 'eth_getTransactionCount' ? '0x1' : null),
  };
  const options: WatchOptions = {
    ...{ rpc, journal, chainId: 1, forwarder: FORWARDER, confirmations: 1n, leaseSeconds: 900n, maxAge: 86_400n },
    alerter: {
      raise({ code }) {
        if (alerts.isBroken) throw new Error('the process ends here');
        alerts.raised.push(code);
        return undefined as never;
      },
    },
    lookAtQueue: async () => ({ records: [LIE], gone: [], atMs: 1_000_000 }),
    async lookAtChain() {
      number += 5n;
      const head = { number, hash: WORD, seconds: 1000n + number, baseFee: 7n };
      return { head, heads: [head], fork: undefined, lostBlocks: 0n, executions: [] };
    },
    checkFinding: async () => 'confirmed',
    now: () => 1_000_000,
    monotonicNow: () => 0,
  };
  return { look: createWatch(options), options, journal, alerts };
}

test('the chain is looked at once a minute while there is nothing to compare, and at once when somebody claims', async () => {
  const { options } = startWatch();
  let [nowMs, looks] = [1_000_000, 0];
  let records = [{ ...LIE, status: 'pending', claimedBy: undefined, txHash: undefined } as unknown as RequestRecord];
  const look = createWatch({
    ...options,
    lookAtQueue: async () => ({ records, gone: [], atMs: nowMs }),
    lookAtChain(...args) {
      looks += 1;
      return options.lookAtChain(...args);
    },
    now: () => nowMs,
  });
  for (; nowMs < 1_120_000; nowMs += 1000) await look();
  expect(looks).toBe(2);
  records = [{ ...LIE, status: 'processing', txHash: undefined } as unknown as RequestRecord];
  for (; nowMs < 1_123_000; nowMs += 1000) await look();
  expect(looks).toBe(5);
});

// Shows WATCH-3.
test('a finding is written in the commit of the position: what ends in between is found again, and once', async () => {
  const { look, journal, alerts } = startWatch();
  const looks = async () => {
    for (let n = 0; n < 3; n += 1) await look();
  };
  await expect(looks()).rejects.toThrow('the process ends here');
  await expect(look()).rejects.toThrow('the process ends here');
  expect(journal.listFindings()).toEqual([]);
  alerts.isBroken = false;
  await looks();
  expect(journal.listFindings()).toMatchObject([{ requestId: 'lie', kind: 'falseSuccess', relayer: RELAYER }]);
  expect(alerts.raised).toHaveLength(1);
});

// Shows WATCH-2.
test('a lie is found within the confirmations and a block', async () => {
  const { world, journal, claim, report, live } = startWatchRig();
  await live(60n);
  claim();
  await live(24n);
  report({ status: 'success', txHash: TX });
  const reportedAt = (world.seconds - START) / BLOCK_SECONDS + 100n;
  await live(120n);
  expect(journal.listFindings()).toMatchObject([{ kind: 'falseSuccess' }]);
  expect(journal.listFindings()[0]!.block).toBeLessThanOrEqual(reportedAt + 3n + 1n);
});

// Shows WATCH-9.
test('failures take a look two seconds, however many there are; a false success is found all the same', async () => {
  const { options, journal, alerts } = startWatch();
  alerts.isBroken = false;
  const failures = Array.from({ length: 20 }, (_, index) => ({
    ...LIE,
    ...{ requestId: `failed ${index}`, status: 'failed', errorMessage: 'InvalidSignature()', txHash: undefined },
  })) as unknown as RequestRecord[];
  let ms = 0;
  const asked: string[] = [];
  const look = createWatch({
    ...options,
    lookAtQueue: async () => ({ records: [...failures, LIE], gone: [], atMs: 1_000_000 }),
    async checkFinding({ finding }) {
      asked.push(finding.requestId);
      return 'confirmed';
    },
    // As long as each would take whose signer has carried out much.
    monotonicNow: () => (ms += 500),
  });
  await look();
  await look();
  expect(asked).toContain(LIE.requestId);
  expect(asked.length).toBeLessThan(10);
  for (let looks = 0; looks < 10; looks++) await look();
  expect(new Set(asked).size).toBe(21);
  expect(journal.listFindings()).toHaveLength(21);
});

// Shows WATCH-9.
test('a false failure is asked about at once, however many a stranger has other relayers report', async () => {
  const { options } = startWatch();
  const failure = { ...LIE, status: 'failed', errorMessage: 'InvalidSignature()', txHash: undefined };
  const flood = Array.from({ length: 500 }, (_, index) => ({
    ...failure,
    requestId: `flood ${index}`,
  })) as unknown as RequestRecord[];
  const lie = { ...failure, requestId: 'lie', claimedBy: `0x${'dd'.repeat(20)}` } as unknown as RequestRecord;
  const asked: string[] = [];
  const look = createWatch({
    ...options,
    lookAtQueue: async () => ({ records: [...flood, lie], gone: [], atMs: 1_000_000 }),
    async checkFinding({ finding }) {
      asked.push(finding.requestId);
      return 'unknown';
    },
  });
  await look();
  await look();
  expect(asked).toContain('lie');
  expect(asked.length).toBeLessThan(100);
});

test('what a holder has sent is asked once a block, and of a new holder at once', async () => {
  const { options } = startWatch();
  const held = { ...LIE, status: 'processing', txHash: undefined } as unknown as RequestRecord;
  const other = { ...held, requestId: 'other', claimedBy: `0x${'dd'.repeat(20)}` } as RequestRecord;
  let [asked, block, records] = [0, 10n, [held]];
  const look = createWatch({
    ...options,
    rpc: {
      read: async ([method], parse) => {
        if (method === 'eth_getTransactionCount') asked++;
        return parse(method === 'eth_getTransactionCount' ? '0x1' : null);
      },
    },
    lookAtQueue: async () => ({ records, gone: [], atMs: 1_000_000 }),
    async lookAtChain() {
      const head = { number: block, hash: numberToHex(block, { size: 32 }), seconds: 1000n + block, baseFee: 7n };
      return { head, heads: [head], fork: undefined, lostBlocks: 0n, executions: [] };
    },
  });
  const asks = async () => {
    asked = 0;
    await look();
    return asked;
  };
  expect([await asks(), await asks()]).toEqual([2, 0]);
  block += 1n;
  expect([await asks(), await asks()]).toEqual([2, 0]);
  records = [held, other];
  expect([await asks(), await asks()]).toEqual([4, 0]);
});
