import { isPublicList, parseListRequests, ROUTES } from '@prism-gateway/protocol';
import { authenticateRelayer, claimedRelayer, type RelayerAuthPorts } from '../../auth/relayer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { type ListPorts, listRequests, type RequestsPage } from '../../requests/list.ts';

/** Writes a page; one that ended before its `limit`, and is not the last, says so. @see docs/specification.md LIST-8 */
export function renderPage({ items, lastKey }: RequestsPage, limit: number): string {
  const records = items.map((record) => renderRecord(record)).join(',');
  const cut = lastKey !== null && items.length < limit ? ',"cut":true' : '';
  return `{"items":[${records}],"count":${items.length},"lastKey":${JSON.stringify(lastKey)}${cut}}`;
}

/** `GET /requests`: anyone lists by signer; as soon as `status` or `chainName` is asked, only relayers do. */
export function listRequestsEndpoint(ports: ListPorts & RelayerAuthPorts): Endpoint<unknown> {
  return {
    route: ROUTES.listRequests,
    isPublic(request) {
      return isPublicList(new URLSearchParams(request.query).keys());
    },
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request) {
      const [query] = requireValid(parseListRequests(new URLSearchParams(request.query)));
      return { status: 200, body: renderPage(await listRequests(ports, query), query.limit) };
    },
  };
}
