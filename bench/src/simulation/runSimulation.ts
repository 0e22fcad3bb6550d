import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEVM } from '@ethereumjs/evm';
import { forwarderAbi } from '@prism-gateway/contracts';
import { forwarderBytecode } from '@prism-gateway/contracts/bytecode';
import { encodeFunctionData, hexToBytes, zeroAddress } from 'viem';
import type { Options } from '../options.ts';
import type { Report } from '../report/printReport.ts';
import type { ResultRow } from '../report/summariseRow.ts';

const main = fileURLToPath(new URL('../../../simulation/src/main.ts', import.meta.url));

/** The measured part of what `prism simulate --json` prints. */
interface Summary {
  readonly virtualMs: number;
  readonly realMs: number;
  readonly cpuMs: number;
}

/** Blocks of 12 s are the default; payment relayers are a part of every world in which somebody pays. */
const WORLDS: readonly {
  readonly title: string;
  readonly args: string;
  readonly hours: number;
  readonly least?: number;
}[] = [
  {
    title: 'a write every ten seconds',
    args: '--write-seconds 10 --pay-seconds 60 --kinds single',
    hours: 0.5,
    least: 300,
  },
  // Batches, pairs, hostile wallets and junk: half as many requests again.
  { title: 'all that users do, every ten seconds', args: '--write-seconds 10 --pay-seconds 60', hours: 0.5 },
  { title: 'idle', args: '--write-seconds 0 --pay-seconds 1000000', hours: 2, least: 2000 },
];

/** Lives one world in a process of its own. @returns virtual seconds a second */
async function live(args: string, hours: number): Promise<Summary> {
  const world = `--seed 1 --faults none --receivers 0 --apps 0 --hours ${hours} ${args} --json`;
  const command = [main, ...world.split(' ')];
  // A breach is no failure here.
  const { stdout } = await promisify(execFile)(process.execPath, command).catch((error: { stdout?: string }) => {
    if (error.stdout?.startsWith('{')) return { stdout: error.stdout };
    throw error;
  });
  return JSON.parse(stdout) as Summary;
}

/** Calls of the Forwarder's `nonces` before and while time is taken. */
const CALLS = 20_000;

/** The baseline: the EVM's library as it comes, without a world around it. @returns thousands of small calls a second */
async function callBareEvm(): Promise<number> {
  const evm = await createEVM();
  const { createdAddress: to } = await evm.runCall({ data: hexToBytes(forwarderBytecode), gasLimit: 30_000_000n });
  if (to === undefined) throw new Error('The Forwarder is not deployed.');
  const data = hexToBytes(encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [zeroAddress] }));
  let beganAt = 0;
  for (let call = -CALLS; call < CALLS; call++) {
    if (call === 0) beganAt = performance.now();
    const { execResult } = await evm.runCall({ to, data });
    if (execResult.exceptionError !== undefined) throw new Error(execResult.exceptionError.error);
  }
  return CALLS / (performance.now() - beganAt);
}

/** Measures how fast virtual time passes in the simulated world. */
export async function runSimulation({ quick, runs }: Options): Promise<Report> {
  const rows: ResultRow[] = [];
  for (const { title, args, hours, least } of WORLDS) {
    const values: number[] = [];
    const ofBareEvm: number[] = [];
    const ofProcessor: number[] = [];
    for (let run = 0; run < (quick ? 1 : Math.min(runs, 3)); run++) {
      ofBareEvm.push(await callBareEvm());
      const { virtualMs, realMs, cpuMs } = await live(args, quick ? 0.02 : hours);
      values.push(virtualMs / realMs);
      ofProcessor.push(Math.round(virtualMs / cpuMs));
    }
    const notes = [`of processor time: ${ofProcessor.join(', ')}`];
    const target = least === undefined ? {} : { target: { of: 'value', is: 'at least', bound: least } as const };
    const baseline = { title: 'thousand small calls/s of the bare EVM', values: ofBareEvm };
    rows.push({ title, unit: 'virtual s/s', values, baseline, ...target, notes });
  }
  const about = [
    'One gateway, three relayers, a watchtower, payment relayers and the gas monitor, blocks of 12 s, no faults, seed 1.',
    `Load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}.`,
  ];
  return { about, rows };
}
