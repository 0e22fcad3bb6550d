import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BenchContext } from './benchContext.ts';
import type { Cleanup } from './cleanup.ts';
import type { LoadCalls } from './load/loadCalls.ts';
import { measureChain } from './measures/measureChain.ts';
import { measureClaim } from './measures/measureClaim.ts';
import { measureFeed } from './measures/measureFeed.ts';
import { measureGet } from './measures/measureGet.ts';
import { measureLife } from './measures/measureLife.ts';
import { measureList } from './measures/measureList.ts';
import { measureMemory } from './measures/measureMemory.ts';
import { measurePost } from './measures/measurePost.ts';
import { measureRace } from './measures/measureRace.ts';
import type { ResultRow } from './measures/measureResult.ts';
import { measureSign } from './measures/measureSign.ts';
import type { MeasureName, Options } from './options.ts';
import { readStartCommand } from './processes/readStartCommand.ts';
import { startChild } from './processes/startChild.ts';
import { collectConfiguration } from './report/collectConfiguration.ts';
import { formatReport } from './report/formatReport.ts';
import { type RowSummary, summariseRow } from './report/summariseRow.ts';
import { fullScale, quickScale } from './scale.ts';
import { createKeyPair } from './signing/createKeyPair.ts';
import { loadSigningCrypto } from './signing/loadSigningCrypto.ts';

const relayerCount = 8;

const measures: Readonly<Record<MeasureName, (context: BenchContext) => Promise<ResultRow[]>>> = {
  get: measureGet,
  post: measurePost,
  claim: measureClaim,
  sign: measureSign,
  life: measureLife,
  feed: measureFeed,
  race: measureRace,
  list: measureList,
  chain: measureChain,
  memory: measureMemory,
};

/**
 * Runs the measures that were asked for, and tells what came out.
 *
 * @param options the command line
 * @param cleanup gets everything that is to be stopped and removed
 */
export async function runBench(options: Options, cleanup: Cleanup): Promise<void> {
  const context = await createContext(options, cleanup);
  const configuration = await collectConfiguration(context);
  const rows: RowSummary[] = [];
  for (const name of options.only) {
    context.tell(`${name} …`);
    const inner = cleanup.nest();
    const measured = await measures[name]({ ...context, cleanup: inner });
    await inner.run();
    rows.push(...measured.map(summariseRow));
  }
  console.log(formatReport(configuration, rows));
  if (options.json !== undefined) {
    await writeFile(options.json, `${JSON.stringify({ configuration, rows }, undefined, 2)}\n`);
  }
}

async function createContext(options: Options, cleanup: Cleanup): Promise<BenchContext> {
  await mkdir(options.dir, { recursive: true });
  const dir = await mkdtemp(join(resolve(options.dir), 'prism-bench-'));
  cleanup.add(() => rm(dir, { recursive: true, force: true }));
  const load = await startChild<LoadCalls>({ entry: new URL('./entry/loadWorker.ts', import.meta.url) });
  cleanup.add(() => load.stop());
  const crypto = await loadSigningCrypto();
  return {
    options: { ...options, dir: resolve(options.dir) },
    scale: options.quick ? quickScale : fullScale,
    startCommand: readStartCommand(),
    load,
    relayers: Array.from({ length: relayerCount }, () => createKeyPair(crypto)),
    dir,
    cleanup,
    tell: (line) => console.error(line),
  };
}
