/** `npm run bench -- payments [--quick]`: one payment relayer against its two transactions sent raw. */
import { availableParallelism } from 'node:os';
import { startPaymentsRig } from '@prism-gateway/payments/demo';
import { formatTable } from '../report/formatTable.ts';
import { median } from '../report/median.ts';
import { payByRelayer, type RelayerRun } from './payByRelayer.ts';
import { payRaw } from './payRaw.ts';

const isQuick = process.argv.includes('--quick');
const PAYMENTS = isQuick ? 8 : 96;
const LANES = isQuick ? 4 : 16;
// Shown to work, a run would pass in waiting for blocks and polls.
const BLOCK_TIME_MS = isQuick ? 250 : 1000;
const IDLE_POLL_INTERVAL_MS = isQuick ? 1000 : 10_000;
const POLL_INTERVAL_MS = 200;
const RUNS = isQuick ? 1 : 3;
const IDLE_MS = isQuick ? 1000 : 30_000;
const TARGET_RATIO = 0.7;
const TARGET_CALLS = 12;

const perMinute = (elapsedMs: number) => (PAYMENTS * 60_000) / elapsedMs;
const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0);

const rig = await startPaymentsRig({ blockTimeMs: BLOCK_TIME_MS, heartbeatMs: 600_000 });
try {
  const raw: number[] = [];
  const relayed: RelayerRun[] = [];
  for (let run = 1; run <= RUNS; run++) {
    console.error(`run ${run} of ${RUNS} …`);
    const options = { rig, count: PAYMENTS, lanes: LANES, pollIntervalMs: POLL_INTERVAL_MS };
    const idle = { idleMs: run === RUNS ? IDLE_MS : 0, idlePollMs: IDLE_POLL_INTERVAL_MS };
    raw.push(await payRaw({ ...options, key: await rig.fundKey() }));
    relayed.push(await payByRelayer({ ...options, key: await rig.fundKey(), ...idle }));
  }
  const ratio = median(raw.map((rawMs, run) => rawMs / (relayed[run]?.elapsedMs ?? Number.NaN)));
  const calls = median(relayed.map(({ rpcCalls }) => sum(rpcCalls) / PAYMENTS));
  const frontendCalls = median(relayed.map((run) => run.frontendCalls / PAYMENTS));
  const idle = relayed.at(-1)?.idle;
  const verdict = (isKept: boolean) => (isKept ? 'kept' : 'MISSED');
  console.log(
    [
      `${PAYMENTS} payments, ${LANES} at a time, blocks of ${BLOCK_TIME_MS} ms, receipts looked for every ${POLL_INTERVAL_MS} ms; medians of ${RUNS} runs,`,
      `raw and relayed in turns, on Anvil, ${availableParallelism()} cores. Raw: the same buy (1 confirmation) and transfer (2), as many at a time.`,
      '',
      ...formatTable([
        ['measure', 'figure', 'target'],
        ['payments a minute, raw', perMinute(median(raw)).toFixed(0), ''],
        [
          'payments a minute, payment relayer',
          perMinute(median(relayed.map(({ elapsedMs }) => elapsedMs))).toFixed(0),
          '',
        ],
        ['ratio', ratio.toFixed(2), `≥ ${TARGET_RATIO}: ${verdict(ratio >= TARGET_RATIO)}`],
        ['RPC calls a payment', calls.toFixed(1), `≤ ${TARGET_CALLS}: ${verdict(calls <= TARGET_CALLS)}`],
        ['frontend calls a payment', frontendCalls.toFixed(1), ''],
        ['idle RPC calls a minute', idle?.rpc.toFixed(0) ?? '', ''],
        ['idle HTTP calls a minute', idle?.http.toFixed(0) ?? '', ''],
      ]),
      '',
      `RPC calls of the last run: ${[...(relayed.at(-1)?.rpcCalls ?? [])].map(([method, count]) => `${method} ${count}`).join(', ')}`,
    ].join('\n'),
  );
  process.exitCode = isQuick || (ratio >= TARGET_RATIO && calls <= TARGET_CALLS) ? 0 : 1;
} finally {
  await rig.close();
}
