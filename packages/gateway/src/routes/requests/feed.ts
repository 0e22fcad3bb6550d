import { parseFeedQuery, ROUTES } from '@prism-gateway/protocol';
import { authenticateRelayer, claimedRelayer, type RelayerAuthPorts } from '../../auth/relayer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { askAgain } from '../../http/response.ts';
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
    async handle(request, relayer) {
      const [query] = requireValid(parseFeedQuery(new URLSearchParams(request.query)));
      const { signal, timing } = request;
      const answer = await followFeed(ports, { ...query, client: `relayer:${relayer.toLowerCase()}`, signal, timing });
      const response = { status: 200, body: renderFeed(answer) };
      const isAnswered = query.waitSeconds === 0 || answer.items.length > 0;
      return isAnswered || ports.waits.isOpen() ? response : { ...askAgain(response), isQuiet: true };
    },
  };
}
