import { expect, it } from 'vitest';
import type { LeaveReason, Verdict } from '../checks/leaveReasons.ts';
import type { LeftRequest } from '../journal/openEvaluationTable.ts';
import { createHealth } from './createHealth.ts';
import { createRefusalWatch } from './createRefusalWatch.ts';

const leave = (reason: LeaveReason): Verdict => ({ kind: 'leave', reason });
const READY: Verdict = { kind: 'ready', signatures: [], gas: 1n, feeWei: 1n, stake: { wei: 0n, gift: 0n } };

function start(customers: readonly string[] = [], leftBefore: readonly LeftRequest[] = []) {
  let nowMs = 0;
  const now = () => nowMs;
  const health = createHealth({ parts: ['refusals'], silentMs: 60_000, now, monotonicNow: now });
  const isKnownPayer = (signer: string) => customers.includes(signer);
  const hasKnownPayers = (count: number) => customers.length >= count;
  const watch = createRefusalWatch({ health, isKnownPayer, hasKnownPayers, now, leftBefore });
  return {
    leaveAll: (signers: readonly string[], reason: LeaveReason = 'fee', sinceMs?: number) => {
      const event = { type: 'request-evaluated', verdict: leave(reason), sinceMs } as const;
      for (const signer of signers) watch.listener({ ...event, signer });
    },
    take: () => watch.listener({ type: 'request-evaluated', signer: '0xf', verdict: READY }),
    setClock(byMs: number) {
      nowMs += byMs;
      watch.listener({ type: 'clock-set', byMs });
    },
    lookAt(ms: number) {
      nowMs = ms;
      watch.look();
      return health.faults().map((fault) => fault.replace(/^(.*) since .*Z: /, '$1: '));
    },
  };
}

it('is red where everything of three signers is left for one setting, a minute long, until something is taken', () => {
  const { leaveAll, take, lookAt } = start();
  leaveAll(['0xa', '0xb', '0xA']);
  expect(lookAt(60_000)).toEqual([]);
  leaveAll(['0xc']);
  expect(lookAt(60_000)).toEqual([
    'takes no request: all requests, of 3 signers, were left as `fee`: look at CREDITS_PER_ETH, FEE_MARGIN_PERCENT, UNKNOWN_WALLET_MARGIN_PERCENT',
  ]);
  take();
  expect(lookAt(60_001)).toEqual([]);
});

it('is red all the same if the clock is set back meanwhile', () => {
  const { leaveAll, take, setClock, lookAt } = start();
  lookAt(7_200_000);
  take();
  setClock(-7_100_000);
  leaveAll(['0xa', '0xb', '0xc'], 'fee', 100_001);
  setClock(-50_000);
  expect(lookAt(120_001)).toHaveLength(1);
});

it('does not count what was left already when something was taken', () => {
  const { leaveAll, take, lookAt } = start();
  leaveAll(['0xa', '0xb', '0xc'], 'fee', 0);
  lookAt(10_000);
  take();
  lookAt(600_000);
  leaveAll(['0xa', '0xb', '0xc'], 'fee', 0);
  expect(lookAt(700_000)).toEqual([]);
  leaveAll(['0xa', '0xb', '0xc'], 'fee', 600_000);
  expect(lookAt(800_000)).toHaveLength(1);
});

it('counts only what settings leave, and forgets it after an hour', () => {
  const { leaveAll, lookAt } = start();
  leaveAll(['0xa', '0xb', '0xc'], 'reverts');
  expect(lookAt(60_000)).toEqual([]);
  leaveAll(['0xa', '0xb', '0xc'], 'gasPrice');
  expect(lookAt(120_000)).toHaveLength(1);
  expect(lookAt(60_001 + 3_600_000)).toEqual([]);
});

it('lets no stranger make it red once there are customers', () => {
  const { leaveAll, lookAt } = start(['0xa', '0xb', '0xc']);
  leaveAll(['0xd', '0xe', '0xf', '0xa']);
  expect(lookAt(60_000)).toEqual([]);
  leaveAll(['0xb', '0xc']);
  expect(lookAt(60_000)).toHaveLength(1);
});

it('is red for strangers too while there are too few customers to make a rule', () => {
  const { leaveAll, lookAt } = start(['0xa', '0xb']);
  leaveAll(['0xa', '0xd', '0xe']);
  expect(lookAt(60_000)).toHaveLength(1);
});

it('stays red after a restart, until something is taken', () => {
  const before = ['0xa', '0xb', '0xc'].map((signer) => ({ reason: 'fee' as const, signer, atMs: -300_000 }));
  const { take, lookAt } = start([], before);
  expect(lookAt(1000)).toHaveLength(1);
  take();
  expect(lookAt(2000)).toEqual([]);
});
