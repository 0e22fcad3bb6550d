import { DEPLOYED_CEILINGS } from '@prism-gateway/gateway/deployment';
import { createSeededRandom } from '@prism-gateway/testing';
import { formatTable } from '../../report/formatTable.ts';
import { checkPaper } from './checkPaper.ts';
import { type ServiceLoad, simulateService } from './simulateService.ts';

type Settings = Omit<ServiceLoad, 'rate' | 'seconds' | 'random'>;

/** As `npm run deploy` leaves prod. @see docs/operations-aws.md, "Limits" */
const DEPLOYED: Settings = { ...DEPLOYED_CEILINGS, shards: 4 };

/** What is raised, one after the other, each on top of those before. */
const STEPS: readonly (readonly [string, Partial<Settings>])[] = [
  ['as deployed', {}],
  ['THROTTLE_RATE 100000', { throttleRate: 100_000, throttleBurst: 50_000 }],
  ['RESERVED_CONCURRENCY 5000', { instances: 5000 }],
  ['MAX_TABLE_WRITE_UNITS 100000', { writeUnits: 100_000 }],
  ['INDEX_SHARDS 24', { shards: 24 }],
];
/** Rates at which a deployment is looked at as it is. */
const DEPLOYED_RATES = [100, 150, 200, 250, 400];

/** Until reports come at the rate of creations, and as long again. */
const SECONDS = 20;
const QUICK_SECONDS = 10;

const head = ['finished a second', 'given up', '429', 'no instance', '503', '201 within, p99', 'instances'];

function cellsOf(settings: Settings, { rate, seconds }: { readonly rate: number; readonly seconds: number }): string[] {
  const result = simulateService({ ...settings, rate, seconds, random: createSeededRandom(1) });
  const percent = (share: number) => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
  return [
    Math.round(result.finished).toLocaleString('en'),
    percent(result.lostShare),
    percent(result.throttledShare),
    percent(result.crowdedShare),
    percent(result.unavailableShare),
    `${result.p99Seconds.toFixed(2)} s`,
    result.peakInstances.toLocaleString('en'),
  ];
}

interface ServiceOptions {
  /** New requests a second. */
  readonly rate: number;
  /** Whether a shorter time, and nothing raised, is looked at. */
  readonly isQuick: boolean;
  /** Whether `docs/scaling.md` is compared. */
  readonly isCheck: boolean;
}

/**
 * Simulates whole lives on a deployment, and prints what it carries as it is, and what each further limit that is raised brings.
 *
 * @returns whether the document says the same, if it is compared
 */
export async function runService({ rate, isQuick, isCheck }: ServiceOptions): Promise<boolean> {
  const seconds = isQuick ? QUICK_SECONDS : SECONDS;
  // What is hopelessly short of a limit is most of the work: its clients all come back.
  const steps = isQuick ? STEPS.slice(0, 1) : STEPS;
  const rows = DEPLOYED_RATES.map((one) => [String(one), ...cellsOf(DEPLOYED, { rate: one, seconds })]);
  const asDeployed = [['new a second', ...head], ...rows];
  console.log(`A deployment as it is, by new requests a second, each claimed, reported and looked at twice:\n`);
  console.log(formatTable(asDeployed).join('\n'));
  let settings = DEPLOYED;
  const raised = [['raised', ...head]];
  for (const [name, change] of steps) {
    settings = { ...settings, ...change };
    raised.push([name, ...cellsOf(settings, { rate, seconds })]);
  }
  console.log(`\n${rate.toLocaleString('en')} new requests a second, one limit raised after the other:\n`);
  console.log(formatTable(raised).join('\n'));
  return !isCheck || (await checkPaper('docs/scaling.md', { tables: [asDeployed, raised] }));
}
