import { parseListActs, parseStatsQuery, type QueueStatsBody, type ServiceBody } from '@prism-gateway/protocol';
import type { NotedAct } from '../../ports/adminStore.ts';
import { renderActs } from '../../routes/admin/audit.ts';
import { describeRoute } from '../describeRoute.ts';
import type { Parameter, Paths } from '../document.ts';
import { createAdminFailures, faultsExample } from '../examples/failures.ts';
import { EXAMPLE_REQUEST_ID } from '../examples/successes.ts';
import { TAGS } from '../text/descriptions.ts';

const unauthorized = () => ({ description: 'The key is missing or wrong.', examples: createAdminFailures() });

const RELEASE: NotedAct = {
  ...{ at: Date.parse('2026-01-01T12:00:00.000Z'), act: 'requests.release', keyId: '3f1c0a9be27d' },
  target: EXAMPLE_REQUEST_ID,
};

const SERVICE: ServiceBody = {
  ...{ claimLeaseSeconds: 900, maxOpenClaims: 1000, maxBodyBytes: 262_144, maxBatchSize: 100, chains: ['eip155:1'] },
  limits: { reads: 3000, writes: 600 },
  clients: [{ limit: 'writes', client: '192.0.2.7', used: 412, most: 600 }],
  refusals: [{ limit: 'reads', lastMinute: 3, lastHour: 250 }],
  since: '2026-01-01T08:00:00.000Z',
  budgets: [{ name: 'connections', used: 12, most: 12_000, ended: 0 }],
  ...{ waiting: 7, disk: { freeBytes: 12_884_901_888, leastFreeBytes: 536_870_912 } },
  key: { keyId: '3f1c0a9be27d', mayAct: true },
};

/** Of the settings `STATUS_URLS` and `EXPLORER_URLS`. */
export const BESIDE_STATS: Pick<QueueStatsBody, 'programs' | 'explorers'> = {
  programs: [
    { name: 'relayer', status: { faults: [], chains: [] } },
    { name: 'payments', error: 'it does not answer' },
  ],
  explorers: { 'eip155:1': 'https://etherscan.io/tx/{hash}' },
};

/** The query of the stats. */
export const STATS_PARAMETERS: readonly Parameter[] = [
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
    description: 'A request or payment: each program tells what it knows of it, too.',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,200}$' },
  },
];

/** A query of the stats that is refused. */
export const STATS_REFUSED = {
  description: 'The query is not valid.',
  examples: { noVersion: faultsExample('Nothing is known', parseStatsQuery(new URLSearchParams('wait=25'))) },
};

function describeAudit(): Paths {
  const refused = parseListActs(new URLSearchParams('limit=1000&lastKey=a.b'));
  return describeRoute('listActs', {
    tag: TAGS.administration,
    summary: 'What administrators have done',
    description:
      'Newest first. Each act was noted before it was done, so that none is done without a trace; one that was refused is not listed. About the newest thousand are kept.',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'Most acts of the page.',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      },
      {
        name: 'lastKey',
        in: 'query',
        description: 'Cursor: the `lastKey` of the page before, with the same `target`. It is opaque.',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: 1024 },
      },
      {
        ...{ name: 'target', in: 'query', description: 'Only what was done to it, in any letter case.' },
        schema: { type: 'string', maxLength: 200 },
      },
    ],
    success: {
      description: 'One page.',
      schema: 'AuditPage',
      examples: { one: { summary: 'A release', value: renderActs({ items: [RELEASE], next: null }, String) } },
    },
    failures: {
      400: { description: 'The query is not valid.', examples: { everyFault: faultsExample('Both', refused) } },
      401: unauthorized(),
    },
  });
}

/** Describes what operators look at beside the queue. */
export function describeOperator(): Paths {
  const service = describeRoute('readService', {
    tag: TAGS.administration,
    summary: 'The limits in force, and what is in use',
    description:
      'Limits are a minute and client, 0 is none. What is in use is told of the process that answers: how near the clients are that it has served, with what others have counted of them, its refusals, its budgets (a function has none) and its disk. `key` is the one of the call.',
    success: {
      description: 'What this service is set to.',
      schema: 'Service',
      examples: { service: { summary: 'The defaults, for one chain', value: SERVICE } },
    },
    failures: { 401: unauthorized() },
  });
  return { ...describeAudit(), ...service };
}
