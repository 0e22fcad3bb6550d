import type { ServiceBody } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';

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

/** Describes `GET /admin/service`. */
export const describeReadService = (): RouteDescription => ({
  tag: TAGS.administration,
  summary: 'The limits in force, and what is in use',
  description:
    'Limits are a minute and client, 0 is none. What is in use is that of the process that answers: how near the clients are that it has served, with what others have counted of them, its refusals, its budgets (a function has none) and its disk. `key` is the one of the call.',
  success: {
    description: 'What this service is set to.',
    schema: 'Service',
    examples: { service: { summary: 'The defaults, for one chain', value: SERVICE } },
  },
});
