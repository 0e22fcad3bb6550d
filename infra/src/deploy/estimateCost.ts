import { deliveriesTable, tableDescriptions } from '@prism-gateway/gateway/deployment';
import type { StageSettings } from '../settings/stageSettings.ts';

/** One line of the bill. */
export interface CostLine {
  readonly what: string;
  readonly usd: number;
}

/** Cost of a stage by list prices of us-east-1, without free tiers. */
export interface Cost {
  /** A month in which nobody calls. */
  readonly atRest: readonly CostLine[];
  /** Added by one relayer that watches a chain in which nothing happens. */
  readonly idleRelayer: readonly CostLine[];
  /** A million requests of 1 kB through their whole life: 5.05 million calls. */
  readonly perMillion: readonly CostLine[];
}

/** US dollars. @see docs/operations-aws.md, "The bill", which says how each was measured and what is assumed */
const PRICE = {
  secretMonth: 0.4,
  alarmMetricMonth: 0.1,
  customMetricMonth: 0.3,
  dashboardMonth: 3,
  webAclMonth: 5,
  wafRuleMonth: 1,
  millionWriteUnits: 0.625,
  millionReadUnits: 0.125,
  millionFunctionCalls: 0.2,
  gigabyteSecond: 0.0000133334,
  logGigabyte: 0.5,
  millionEdgeCalls: 1,
  millionEdgeFunctionCalls: 0.1,
  millionWafCalls: 0.6,
} as const;

/** Of one life: POST, a page of 20, claim, report, two looks. Units as `npm run bench -- dynamodb` prints them. */
const LIFE = { calls: 5.05, edgeCalls: 5.05, writeUnits: 12.7, readUnits: 4.3 } as const;
/** Of one call: its line of the log (an integration test measures it), and its time. */
const CALL = { logKilobytes: 0.3, gigabyteSeconds: 0.25 * 0.03 } as const;
/** Of one life, with webhooks: post, claim and report, each in a batch of its own at worst. */
const STREAM = { batches: 3, gigabyteSeconds: 0.25 * 0.02, logKilobytes: 0.1 } as const;
/** The function that counts stats, whose units are among those of a life: at most a batch in ten seconds, for a million lives in a month. */
const STATS_USD = 0.26 * (0.2 + 0.07);
/** Looks at the feed in a month, every 2 s with the call itself, and at own claims once a minute by the edge. */
const IDLE = {
  looks: (30 * 86_400) / 2 / 1e6,
  readUnits: 3.03,
  gigabyteSeconds: 0.25 * 0.015,
  writeUnits: 0.09,
  edgeCalls: (30 * 1440) / 1e6,
} as const;

/** Metrics that the alarms read, and those that the function and its log write. */
const THROTTLE_METRICS = [...Object.values(tableDescriptions), deliveriesTable].reduce(
  (sum, { indexes }) => sum + 2 * (1 + indexes.length),
  0,
);
const ALARM_METRICS = 21 + THROTTLE_METRICS;
const CUSTOM_METRICS = 23;
/** Rules of the firewall, and the set of rules itself. */
const WAF_RULES = 4;

const sum = (lines: readonly CostLine[]) => lines.reduce((total, { usd }) => total + usd, 0);

/** Of a million calls. */
const FUNCTION_CALL = PRICE.millionFunctionCalls + CALL.gigabyteSeconds * PRICE.gigabyteSecond * 1e6;
const LOG_OF_CALL = CALL.logKilobytes * PRICE.logGigabyte;
const EDGE_CALL = PRICE.millionEdgeCalls + PRICE.millionEdgeFunctionCalls + PRICE.millionWafCalls;

const tableLines = ({ writeUnits, readUnits }: { readonly writeUnits: number; readonly readUnits: number }) => [
  { what: 'tables, writes', usd: writeUnits * PRICE.millionWriteUnits },
  { what: 'tables, reads', usd: readUnits * PRICE.millionReadUnits },
];

function idleRelayer(hasEdge: boolean): readonly CostLine[] {
  const { looks, edgeCalls, readUnits, writeUnits, gigabyteSeconds } = IDLE;
  const calls = looks + edgeCalls;
  return [
    ...tableLines({ readUnits: calls * readUnits, writeUnits: calls * writeUnits }),
    { what: 'function', usd: calls * (PRICE.millionFunctionCalls + gigabyteSeconds * PRICE.gigabyteSecond * 1e6) },
    { what: 'logs', usd: edgeCalls * LOG_OF_CALL },
    ...(hasEdge ? [{ what: 'CloudFront and firewall', usd: edgeCalls * EDGE_CALL }] : []),
  ];
}

/** Estimates what a stage costs. */
export function estimateCost({ edge, hasWebhooks }: Pick<StageSettings, 'edge' | 'hasWebhooks'>): Cost {
  const hasEdge = edge !== undefined;
  const { batches, gigabyteSeconds, logKilobytes } = STREAM;
  const batch =
    PRICE.millionFunctionCalls + gigabyteSeconds * PRICE.gigabyteSecond * 1e6 + logKilobytes * PRICE.logGigabyte;
  return {
    atRest: [
      { what: 'secrets', usd: PRICE.secretMonth * (hasEdge ? 4 : 2) },
      { what: 'alarms', usd: PRICE.alarmMetricMonth * ALARM_METRICS },
      { what: 'metrics', usd: PRICE.customMetricMonth * CUSTOM_METRICS },
      { what: 'dashboard', usd: PRICE.dashboardMonth },
      ...(hasEdge ? [{ what: 'firewall', usd: PRICE.webAclMonth + PRICE.wafRuleMonth * WAF_RULES }] : []),
    ],
    idleRelayer: idleRelayer(hasEdge),
    perMillion: [
      ...tableLines(LIFE),
      { what: 'stats', usd: STATS_USD },
      { what: 'function', usd: LIFE.calls * FUNCTION_CALL },
      { what: 'logs', usd: LIFE.calls * LOG_OF_CALL },
      ...(hasWebhooks ? [{ what: 'stream', usd: batches * batch }] : []),
      ...(hasEdge ? [{ what: 'CloudFront and firewall', usd: LIFE.edgeCalls * EDGE_CALL }] : []),
    ],
  };
}

/** Writes it for whoever is about to deploy. */
export function describeCost({ atRest, idleRelayer, perMillion }: Cost): string {
  const list = (lines: readonly CostLine[]) => lines.map(({ what, usd }) => `${what} ${usd.toFixed(2)}`).join(', ');
  return [
    'It will cost, by list prices of us-east-1 and without free tiers:',
    `  at rest        ${sum(atRest).toFixed(2)} USD a month: ${list(atRest)}`,
    `  idle relayer   ${sum(idleRelayer).toFixed(2)} USD a month and chain: ${list(idleRelayer)}`,
    `  with use       ${sum(perMillion).toFixed(2)} USD a million requests of 1 kB, from POST to report: ${list(perMillion)}`,
  ].join('\n');
}
