import { parseListActs } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import { faultsExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID } from '../../openapi/examples/successes.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import type { NotedAct } from '../../ports/adminStore.ts';
import { renderActs } from './audit.ts';

const RELEASE: NotedAct = {
  ...{ at: Date.parse('2026-01-01T12:00:00.000Z'), act: 'requests.release', keyId: '3f1c0a9be27d' },
  target: EXAMPLE_REQUEST_ID,
};

/** Describes `GET /admin/audit`. */
export function describeListActs(): RouteDescription {
  const refused = parseListActs(new URLSearchParams('limit=1000&lastKey=a.b'));
  return {
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
    },
  };
}
