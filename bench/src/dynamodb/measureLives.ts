import { formatTable } from '../report/formatTable.ts';
import type { Units } from './startUnitMeter.ts';

/** Lives that are measured: few enough for the default limits of a minute, and so many that each counter has reached the table several times. */
const LIVES = 100;
/** List prices of us-east-1, in US dollars a million. @see ../../../infra/src/deploy/estimateCost.ts */
const [WRITE_USD, READ_USD] = [0.625, 0.125];
/**
 * Writes of stats a life, as the stack has them: a batch of ten seconds writes its chain, its relayer, its minute and its hour, one unit
 * each (`adminStore.test.ts`). At a million lives a month that is 11.6 moves a batch, of which a life has three.
 */
const STATS_WRITES = (4 * 3) / ((3 * 1e6 * 10) / (30 * 86_400));

/** A life's calls: POST, a page of 20, claim, report, and two looks. */
interface LifeCalls {
  readonly create: (body: object) => Promise<string>;
  readonly page: () => Promise<unknown>;
  readonly claim: (requestId: string) => Promise<unknown>;
  readonly report: (requestId: string) => Promise<unknown>;
  readonly get: (requestId: string) => Promise<unknown>;
}

/** Cost of a life's units, in US dollars a million lives. */
const usdOf = ({ reads, writes }: Units) => reads * READ_USD + writes * WRITE_USD;

/**
 * Measures whole lives at one gateway with the default limits, and prints what their units cost.
 *
 * @param take - the units since it was last called, by table
 */
export async function measureLives(
  calls: LifeCalls,
  bodyOf: () => object,
  take: () => ReadonlyMap<string, Units>,
): Promise<string[]> {
  take();
  for (let i = 0; i < LIVES; i++) {
    const requestId = await calls.create(bodyOf());
    // A page of the relayer's shows some twenty.
    if (i % 20 === 0) await calls.page();
    await calls.claim(requestId);
    await calls.report(requestId);
    await calls.get(requestId);
    await calls.get(requestId);
  }
  const rows = [...take()].map(
    ([table, { reads, writes }]) => [table, { reads: reads / LIVES, writes: writes / LIVES }] as const,
  );
  rows.push(['stats, reckoned', { reads: 0, writes: STATS_WRITES }]);
  const total = rows.reduce(
    (sum, [, { reads, writes }]) => ({ reads: sum.reads + reads, writes: sum.writes + writes }),
    {
      reads: 0,
      writes: 0,
    },
  );
  const write = (name: string, units: Units) => [
    ...[name, units.reads.toFixed(2), units.writes.toFixed(2), usdOf(units).toFixed(2)],
  ];
  return formatTable([
    ['a life of 1 kB', 'R', 'W', 'USD a million'],
    ...rows.map(([name, units]) => write(name, units)),
    write('sum', total),
  ]);
}
