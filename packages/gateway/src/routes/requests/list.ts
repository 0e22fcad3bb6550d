import { parseListRequests, ROUTES } from '@prism-gateway/protocol';
import type { RelayerAuthPorts } from '../../auth/relayer.ts';
import { relayerCaller } from '../../auth/relayerCaller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/valid.ts';
import { type ListPorts, listRequests } from '../../queue/list.ts';

/** `GET /requests`: anyone lists by signer; as soon as `status` or `chainName` is asked, only relayers do. */
export function listRequestsEndpoint(ports: ListPorts & RelayerAuthPorts): Endpoint<unknown> {
  return {
    route: ROUTES.listRequests,
    isPublic(call) {
      const query = new URLSearchParams(call.query);
      return !query.has('status') && !query.has('chainName');
    },
    authenticate: (call) => relayerCaller(ports, call),
    async handle(call) {
      const [query] = requireValid(parseListRequests(new URLSearchParams(call.query)));
      return { status: 200, body: await listRequests(ports, query) };
    },
  };
}
