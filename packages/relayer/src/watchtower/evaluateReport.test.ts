import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Evidence, evaluateReport, type ReportedRequest, type SeenExecution } from './evaluateReport.ts';
import { isLie } from './finding.ts';

const RELAYER = '0x00000000000000000000000000000000000000aa';
const OTHER = '0x00000000000000000000000000000000000000bb';
const TX = `0x${'11'.repeat(32)}` as const;
const OTHER_TX = `0x${'22'.repeat(32)}` as const;

const report = (given: Partial<ReportedRequest>): ReportedRequest => ({
  requestId: '0197c2a4-5b1e-7c3d-8f60-0242ac120002',
  status: 'success',
  relayer: RELAYER,
  claimedSeconds: 1000n,
  txHash: TX,
  endedBlock: 50n,
  expiresSeconds: 90_000n,
  excuse: 'none',
  endedSeconds: 1000n,
  idleSeconds: 0n,
  ...given,
});
const evidence = (given: Partial<Evidence>): Evidence => ({
  head: { number: 53n, seconds: 1100n },
  confirmations: 3n,
  leaseSeconds: 900n,
  executions: [],
  hasActed: false,
  ...given,
});
const execution = (given: Partial<SeenExecution>): SeenExecution => ({
  txHash: TX,
  block: 48n,
  relayer: RELAYER,
  deepSeconds: 1050n,
  ...given,
});
const kindOf = (given: Partial<ReportedRequest>, seen: Partial<Evidence>) => {
  const evaluation = evaluateReport(report(given), evidence(seen));
  return typeof evaluation === 'string' ? evaluation : evaluation.kind;
};

// Shows WATCH-1.
test.each([
  ['its event, deep enough', {}, { executions: [execution({})] }, 'done'],
  ['its event, not deep yet', {}, { executions: [execution({ block: 52n })] }, 'again'],
  ['no event, and no block as late as the report', { endedBlock: undefined }, {}, 'again'],
  ['no event, two blocks after the report', {}, { head: { number: 52n, seconds: 1100n } }, 'again'],
  ['no event, three blocks after the report', {}, {}, 'falseSuccess'],
  ['an event elsewhere', {}, { executions: [execution({ txHash: OTHER_TX })] }, 'wrongTransaction'],
  ['an event elsewhere that is not deep', {}, { executions: [execution({ txHash: OTHER_TX, block: 52n })] }, 'again'],
  [
    'no event, after a deep reorganisation',
    { excuse: 'undone' },
    { head: { number: 53n, seconds: 1901n } },
    'reorganised',
  ],
  [
    'no event yet, a lease after a deep reorganisation',
    { excuse: 'undone' },
    { head: { number: 53n, seconds: 1900n } },
    'again',
  ],
  ['no event, after a reorganisation that is not deep', { excuse: 'fork' }, {}, 'falseSuccess'],
] as const)('success: %s', (_, given, seen, expected) => {
  expect(kindOf(given, seen)).toBe(expected);
});

// Shows WATCH-1.
test.each([
  ['nothing on the chain, three blocks after the report', {}, {}, 'falseFailure'],
  ['nothing on the chain, two blocks after the report', {}, { head: { number: 52n, seconds: 1100n } }, 'again'],
  [
    'nothing on the chain, in a block that nodes have forgotten',
    {},
    { head: { number: 182n, seconds: 1100n } },
    'watch',
  ],
  ['nothing on the chain, after any reorganisation', { excuse: 'fork' }, {}, 'watch'],
  ['nothing on the chain when the Forwarder takes it no more', { expiresSeconds: 1099n }, {}, 'done'],
  ['carried out by itself', {}, { executions: [execution({})] }, 'falseFailure'],
  ['carried out by itself, not deep yet', {}, { executions: [execution({ block: 52n })] }, 'again'],
  [
    'carried out by another, deep before its claim',
    {},
    { executions: [execution({ relayer: OTHER, deepSeconds: 999n })] },
    'falseFailure',
  ],
  ['carried out by another since', {}, { executions: [execution({ relayer: OTHER })] }, 'executedLater'],
  ['carried out, after a deep reorganisation', { excuse: 'undone' }, { executions: [execution({})] }, 'reorganised'],
] as const)('failed: %s', (_, given, seen, expected) => {
  expect(kindOf({ status: 'failed', txHash: undefined, ...given }, seen)).toBe(expected);
});

// Shows WATCH-1.
test.each([
  ['idle for the lease and a quarter', 1125n, {}, 'again'],
  ['idle for longer, with nothing sent', 1126n, {}, 'idleClaim'],
  ['idle for longer, while its holder sends', 901n, { hasActed: true }, 'again'],
  ['idle for twice the lease', 1801n, { hasActed: true }, 'idleClaim'],
  ['carried out', 9000n, { executions: [execution({})] }, 'again'],
] as const)('held: %s', (_, idleSeconds, seen, expected) => {
  expect(kindOf({ status: 'processing', txHash: undefined, endedBlock: undefined, idleSeconds }, seen)).toBe(expected);
});

// Shows WATCH-1.
test('who names the transaction of the event is never accused, whatever else is on the chain', () => {
  const executions = fc.array(
    fc.record({
      txHash: fc.constantFrom(TX, OTHER_TX),
      block: fc.bigInt(1n, 60n),
      relayer: fc.constantFrom(RELAYER, OTHER),
      deepSeconds: fc.option(fc.bigInt(0n, 2000n), { nil: undefined }),
    }),
  );
  const heads = fc.record({ number: fc.bigInt(40n, 100n), seconds: fc.bigInt(0n, 100_000n) });
  fc.assert(
    fc.property(executions, heads, fc.constantFrom('none', 'fork', 'undone'), (others, head, excuse) => {
      const seen = evidence({ head, executions: [...others, execution({})] });
      const evaluation = evaluateReport(report({ excuse }), seen);
      expect(typeof evaluation === 'string' || !isLie(evaluation)).toBe(true);
    }),
  );
});
