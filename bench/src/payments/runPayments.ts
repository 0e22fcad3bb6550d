import { startPaymentsRig } from '@prism-gateway/payments/demo';
import type { Options } from '../options.ts';
import type { Report } from '../report/printReport.ts';
import { measurePayoutGas } from './measurePayoutGas.ts';
import { payByRelayer, type RelayerRun } from './payByRelayer.ts';
import { payRaw } from './payRaw.ts';

const FULL = { payments: 96, lanes: 16, blockTimeMs: 1000, runs: 3, idleMs: 30_000, idlePollMs: 10_000 };
/** A run would pass in waiting for blocks and polls. */
const QUICK = { payments: 8, lanes: 4, blockTimeMs: 250, runs: 1, idleMs: 1000, idlePollMs: 1000 };
const POLL_INTERVAL_MS = 200;

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0);

/** Measures one payment relayer against its two transactions sent raw. */
export async function runPayments({ quick }: Options): Promise<Report> {
  const { payments, lanes, blockTimeMs, runs, ...idleScale } = quick ? QUICK : FULL;
  const rig = await startPaymentsRig({ blockTimeMs, heartbeatMs: 600_000 });
  try {
    const raw: number[] = [];
    const relayed: RelayerRun[] = [];
    for (let run = 1; run <= runs; run++) {
      console.error(`run ${run} of ${runs} …`);
      const options = { rig, count: payments, lanes, pollIntervalMs: POLL_INTERVAL_MS };
      const idle = { ...idleScale, idleMs: run === runs ? idleScale.idleMs : 0 };
      raw.push(await payRaw({ ...options, key: await rig.fundKey() }));
      relayed.push(await payByRelayer({ ...options, key: await rig.fundKey(), ...idle }));
    }
    const gas = await measurePayoutGas(rig);
    const perMinute = (elapsedMs: number) => (payments * 60_000) / elapsedMs;
    const last = relayed.at(-1);
    const calls = [...(last?.rpcCalls ?? [])].map(([method, count]) => `${method} ${count}`);
    return {
      about: [
        `${payments} payments, ${lanes} at a time, blocks of ${blockTimeMs} ms, receipts looked for every ${POLL_INTERVAL_MS} ms, on Anvil`,
        'Raw: the same buy (1 confirmation) and transfer (2), as many at a time, in turns with the payment relayer',
      ],
      rows: [
        {
          title: 'payments a minute',
          unit: 'payments/min',
          values: relayed.map(({ elapsedMs }) => perMinute(elapsedMs)),
          baseline: { title: 'raw', values: raw.map(perMinute) },
          target: { of: 'ratio', is: 'at least', bound: 0.7 },
        },
        {
          title: 'RPC calls a payment',
          unit: 'calls',
          values: relayed.map(({ rpcCalls }) => sum(rpcCalls) / payments),
          target: { of: 'value', is: 'at most', bound: 12 },
          notes: [`of the last run: ${calls.join(', ')}`],
        },
        {
          title: 'frontend calls a payment',
          unit: 'calls',
          values: relayed.map((run) => run.frontendCalls / payments),
        },
        {
          title: 'gas of a first payout to a wallet, through Payouts',
          unit: 'gas',
          values: [gas.contract],
          baseline: { title: 'plain transfer', values: [gas.plain] },
        },
        { title: 'idle RPC calls a minute', unit: 'calls', values: [last?.idle?.rpc ?? Number.NaN] },
        { title: 'idle HTTP calls a minute', unit: 'calls', values: [last?.idle?.http ?? Number.NaN] },
      ],
    };
  } finally {
    await rig.close();
  }
}
