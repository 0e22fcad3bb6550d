import { parseRequestId, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { andThen } from '../../http/response.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import { RequestNotFoundError } from '../../requests/errors.ts';

/** `GET /requests/{requestId}`: anyone reads a record. */
export function readRequestEndpoint(ports: { readonly requests: RequestStore }): Endpoint {
  return {
    route: ROUTES.readRequest,
    handle(request) {
      const [requestId] = requireValid(parseRequestId(request.params.requestId));
      return andThen(ports.requests.get(requestId), (record) => {
        if (record === undefined) throw new RequestNotFoundError(requestId);
        return { status: 200, body: renderRecord(record) };
      });
    },
  };
}
