import { parseFeedQuery, ROUTES } from '@prism-gateway/protocol';
import { authenticateRelayer, claimedRelayer, type RelayerAuthPorts } from '../../auth/relayer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { type FeedAnswer, type FeedPorts, followFeed } from '../../requests/feed.ts';

function renderFeed({ items, cursor }: FeedAnswer): string {
  const records = items.map(renderRecord).join(',');
  return `{"items":[${records}],"count":${items.length},"cursor":${JSON.stringify(cursor)}}`;
}

/** `GET /requests/feed`: a relayer follows what becomes pending in a chain. */
export function feedRequestsEndpoint(ports: FeedPorts & RelayerAuthPorts): Endpoint<string> {
  return {
    route: ROUTES.feedRequests,
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request) {
      const [query] = requireValid(parseFeedQuery(new URLSearchParams(request.query)));
      const { signal, timing } = request;
      return { status: 200, body: renderFeed(await followFeed(ports, { ...query, signal, timing })) };
    },
  };
}
