import { parseListRequests } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { faultsExample, RELAYER_FAILURES, thrownExample } from '../../openapi/examples/failures.ts';
import { exampleRecord } from '../../openapi/examples/successes.ts';
import { LIST_PARAMETERS } from '../../openapi/parts/parameters.ts';
import { OPTIONAL_RELAYER } from '../../openapi/text/authentication.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import { createCursorCodec } from '../../requests/createCursorCodec.ts';

const LAST_KEY = 'tGkq2xYbL0ZQm9sRMTc2NzIyNTYwMTI1MC4wMTk3YzJhNA';

const PAGES: Examples = {
  more: {
    summary: 'A page with more to come',
    value: { items: [exampleRecord('WRITE_DATA_FOR', 'pending')], count: 1, lastKey: LAST_KEY },
  },
  last: {
    summary: 'The last page',
    value: { items: [exampleRecord('DELETE_DATA_FOR', 'success')], count: 1, lastKey: null },
  },
  empty: { summary: 'Nothing found', value: { items: [], count: 0, lastKey: null } },
};

function invalidExamples(): Examples {
  const refused = (summary: string, query: string) =>
    faultsExample(summary, parseListRequests(new URLSearchParams(query)));
  const cursors = createCursorCodec(new Uint8Array(32));
  const open = () => cursors.open(LAST_KEY, { filter: { status: 'pending' }, order: 'asc' });
  return {
    noFilter: refused('No filter at all', 'limit=20'),
    everyFault: refused('Several faults, each named', 'signer=0x12&limit=0&order=newest'),
    repeated: refused('A parameter that stands twice', 'status=pending&status=failed'),
    foreignCursor: thrownExample('An altered cursor, or one of another list', open),
  };
}

const DESCRIPTION = `Lists requests, oldest first, a page at a time. At least one of \`signer\`, \`status\`, \`chainName\` is required; several must all hold. As soon as \`status\` or \`chainName\` is there, the call needs relayer authentication.

Pass the \`lastKey\` of a page to get the next one; \`null\` means that there is none. A walk over a set that does not change gives each record once, in order. A page of pending requests never shows one that is known to be claimed, unless its claim has lapsed: that one is there as \`processing\`, and may be claimed. A page holds 1 MB of \`params\` at most, 128 kB if the call is public; one that ends before its \`limit\`, even empty, and is not the last has \`cut: true\`.`;

/** Describes `GET /requests`. */
export function describeListRequests(): RouteDescription {
  return {
    tag: TAGS.requests,
    summary: 'List requests',
    description: DESCRIPTION,
    security: OPTIONAL_RELAYER,
    parameters: LIST_PARAMETERS,
    success: { description: 'One page.', schema: 'RequestPage', examples: PAGES },
    failures: {
      400: { description: 'The query is not valid.', examples: invalidExamples() },
      401: {
        description: '`status` or `chainName` without a valid proof of a whitelisted relayer.',
        examples: RELAYER_FAILURES,
      },
    },
  };
}
