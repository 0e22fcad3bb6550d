import { FEED_PAGE_SIZE, parseFeedQuery } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { faultsExample, thrownExample } from '../../openapi/examples/failures.ts';
import { exampleRecord } from '../../openapi/examples/successes.ts';
import { FEED_PARAMETERS } from '../../openapi/parts/parameters.ts';
import { ASK_AGAIN_HEADER } from '../../openapi/parts/responses.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import { createCursorCodec } from '../../requests/createCursorCodec.ts';

const CURSOR = 'hV2q9Qw4m0bYp1RzMTA0Mi04ODc';

const PAGES: Examples = {
  one: {
    summary: 'Something has become pending',
    value: { items: [exampleRecord('WRITE_DATA_FOR', 'pending')], count: 1, cursor: CURSOR },
  },
  lapsed: {
    summary: 'A claim has lapsed',
    value: { items: [exampleRecord('WRITE_DATA_FOR', 'processing')], count: 1, cursor: CURSOR },
  },
  nothing: { summary: 'Nothing within the wait', value: { items: [], count: 0, cursor: CURSOR } },
};

function invalidExamples(): Examples {
  const refused = (summary: string, query: string) =>
    faultsExample(summary, parseFeedQuery(new URLSearchParams(query)));
  const cursors = createCursorCodec(new Uint8Array(32));
  return {
    noChain: refused('No chain', 'wait=25'),
    twoPlaces: refused('A cursor and a beginning', `chainName=eip155:31337&cursor=${CURSOR}&from=now`),
    foreignCursor: thrownExample('A cursor of another chain', () => cursors.open(CURSOR, { feedOf: 'eip155:1' })),
  };
}

const DESCRIPTION = `What has become pending in a chain after the cursor, in the order in which it did: new requests, released ones, and claims that have lapsed (those come first, and are still \`processing\`). A page has at most ${FEED_PAGE_SIZE} records, and 1 MB of params. Where there is nothing, the call waits for it, at most \`wait\` seconds; a gateway that lets no call wait answers at once, and says in \`Retry-After\` when to ask again.

A request comes at least once, and may come again; one that stays pending is never skipped. \`cursor\` is never \`null\`: keep that of a page once it has been dealt with, and go on from there, also after a restart. Once the gateway's data were restored, cursors of before are refused with 400: begin without one.`;

/** Describes `GET /requests/feed`. */
export function describeFeedRequests(): RouteDescription {
  return {
    tag: TAGS.requests,
    summary: 'Follow what becomes pending',
    description: DESCRIPTION,
    parameters: FEED_PARAMETERS,
    success: {
      description: 'One page, and where to go on.',
      schema: 'FeedPage',
      examples: PAGES,
      headers: ASK_AGAIN_HEADER,
    },
    failures: {
      400: { description: 'The query is not valid.', examples: invalidExamples() },
    },
  };
}
