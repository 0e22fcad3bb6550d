import type { StageSettings } from '../settings/stageSettings.ts';

/** One line of the bill. */
export interface CostLine {
  readonly what: string;
  readonly usd: number;
}

/** What a stage costs by list prices of us-east-1, without free tiers. */
export interface Cost {
  /** A month in which nobody calls. */
  readonly atRest: readonly CostLine[];
  /** A million requests of 1 kB through their whole life: 5.05 million calls. */
  readonly perMillion: readonly CostLine[];
}

/** US dollars. @see docs/operations-aws.md, "Cost", which tells how each was measured and what is assumed */
const PRICE = {
  secretMonth: 0.4,
  alarmMetricMonth: 0.1,
  customMetricMonth: 0.3,
  dashboardMonth: 3,
  webAclMonth: 5,
  wafRuleMonth: 1,
  millionWriteUnits: 0.625,
  millionReadUnits: 0.125,
  millionApiCalls: 1,
  millionFunctionCalls: 0.2,
  gigabyteSecond: 0.0000133334,
  logGigabyte: 0.5,
  millionEdgeCalls: 1,
  millionWafCalls: 0.6,
} as const;

/** Of one life: POST, a page of 20, claim, report, two looks. As `npm run bench -- dynamodb` prints them. */
const LIFE = {
  calls: 5.05,
  writeUnits: 20.05,
  readUnits: 10.2,
  logKilobytes: 1.3,
  gigabyteSeconds: 0.25 * 0.03,
} as const;
/** Of one life as the stream tells it: post, claim and report, each in a batch of its own at worst, whether there are webhooks or not. */
const STREAM = { batches: 3, gigabyteSeconds: 0.25 * 0.02, logKilobytes: 0.3 } as const;
/** Metrics that the alarms read, and those that the function writes of itself. */
const ALARM_METRICS = 42;
const CUSTOM_METRICS = 22;
/** Rules of the firewall, and the set of rules itself. */
const WAF_RULES = 4;

const sum = (lines: readonly CostLine[]) => lines.reduce((total, { usd }) => total + usd, 0);

/** Estimates what a stage costs. */
export function estimateCost({ edge }: Pick<StageSettings, 'edge'>): Cost {
  const hasEdge = edge !== undefined;
  return {
    atRest: [
      { what: 'secrets', usd: PRICE.secretMonth * (hasEdge ? 4 : 2) },
      { what: 'alarms', usd: PRICE.alarmMetricMonth * ALARM_METRICS },
      { what: 'metrics', usd: PRICE.customMetricMonth * CUSTOM_METRICS },
      { what: 'dashboard', usd: PRICE.dashboardMonth },
      ...(hasEdge ? [{ what: 'firewall', usd: PRICE.webAclMonth + PRICE.wafRuleMonth * WAF_RULES }] : []),
    ],
    perMillion: [
      { what: 'tables, writes', usd: LIFE.writeUnits * PRICE.millionWriteUnits },
      { what: 'tables, reads', usd: LIFE.readUnits * PRICE.millionReadUnits },
      { what: 'HTTP API', usd: LIFE.calls * PRICE.millionApiCalls },
      {
        what: 'function',
        usd: LIFE.calls * (PRICE.millionFunctionCalls + LIFE.gigabyteSeconds * PRICE.gigabyteSecond * 1e6),
      },
      {
        what: 'stream',
        usd:
          STREAM.batches *
          (PRICE.millionFunctionCalls +
            STREAM.gigabyteSeconds * PRICE.gigabyteSecond * 1e6 +
            STREAM.logKilobytes * PRICE.logGigabyte),
      },
      { what: 'logs', usd: LIFE.calls * LIFE.logKilobytes * PRICE.logGigabyte },
      ...(hasEdge
        ? [{ what: 'CloudFront and firewall', usd: LIFE.calls * (PRICE.millionEdgeCalls + PRICE.millionWafCalls) }]
        : []),
    ],
  };
}

/** Writes it for whoever is about to deploy. */
export function describeCost({ atRest, perMillion }: Cost): string {
  const list = (lines: readonly CostLine[]) => lines.map(({ what, usd }) => `${what} ${usd.toFixed(2)}`).join(', ');
  return [
    'It will cost, by list prices of us-east-1 and without free tiers:',
    `  at rest        ${sum(atRest).toFixed(2)} USD a month: ${list(atRest)}`,
    `  with use       ${sum(perMillion).toFixed(2)} USD a million requests of 1 kB, from POST to report: ${list(perMillion)}`,
  ].join('\n');
}
