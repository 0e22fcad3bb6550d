import { parseStatsQuery, type QueueStatsBody } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Parameter } from '../../openapi/document.ts';
import { faultsExample } from '../../openapi/examples/failures.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import type { QueueStats } from '../../ports/adminStore.ts';
import { renderStats } from './stats.ts';

const HOLDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const NOON = Date.parse('2026-01-01T12:00:00.000Z');

const STATS: QueueStats = {
  chains: [{ chainName: 'eip155:31337', pending: 12, processing: 3, success: 870, failed: 4 }],
  oldestPendingAt: NOON - 42_000,
  oldestProcessingAt: NOON - 55_000,
  minutes: [{ start: NOON, posts: 9, claims: 8, success: 7, failed: 0 }],
  hours: [{ start: NOON, posts: 9, claims: 8, success: 7, failed: 0 }],
  relayers: [
    {
      ...{ address: HOLDER, openClaims: 3, success: 870, failed: 4, conflicts: 2 },
      ...{ medianMs: 13_777, p95Ms: 31_042, lastSeenAt: NOON + 7000 },
    },
  ],
};

/** Of the settings `STATUS_URLS` and `EXPLORER_URLS`. */
const BESIDE_STATS: Pick<QueueStatsBody, 'programs' | 'explorers'> = {
  programs: [
    { name: 'relayer', status: { faults: [], chains: [] } },
    { name: 'payments', error: 'it does not answer' },
  ],
  explorers: { 'eip155:1': 'https://etherscan.io/tx/{hash}' },
};

/** The query of the stats. */
const STATS_PARAMETERS: readonly Parameter[] = [
  {
    name: 'seen',
    in: 'query',
    description: 'The `version` that is known: the call waits for another one.',
    schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  },
  {
    name: 'wait',
    in: 'query',
    description: 'Longest wait, in seconds; only beside `seen`.',
    schema: { type: 'integer', minimum: 0, maximum: 25, default: 0 },
  },
  {
    ...{ name: 'about', in: 'query' },
    description: 'A request or payment: each program shows what it knows of it, too.',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,200}$' },
  },
];

/** A query of the stats that is refused. */
const STATS_REFUSED = {
  description: 'The query is not valid.',
  examples: { noVersion: faultsExample('Nothing is known', parseStatsQuery(new URLSearchParams('wait=25'))) },
};

/** Describes `GET /admin/stats`. */
export function describeReadStats(): RouteDescription {
  return {
    tag: TAGS.administration,
    summary: 'Look at the queue as a whole',
    description:
      'Requests by chain and status, the oldest ones, what happened by minute over the last hour and by hour over the last week, and how each relayer does. Parts without any activity are left out. Chains beyond the first 200 are counted together, with `chainName` null. With DynamoDB each process adds what it has counted every ten seconds. With `seen` and `wait` the answer comes once the stats are others. Beside them stands what the programs of the setting `STATUS_URLS` say of themselves, such as a relayer and the payment relayer, each with the JSON that it answers, or why there is none: they have three seconds.',
    parameters: STATS_PARAMETERS,
    success: {
      description: 'The queue at one look.',
      schema: 'QueueStats',
      examples: {
        stats: {
          summary: 'A queue at work, and two programs, one of which is down',
          value: { ...renderStats(STATS, () => new Uint8Array(32).fill(0x5a)), ...BESIDE_STATS },
        },
      },
    },
    failures: { 400: STATS_REFUSED },
  };
}
