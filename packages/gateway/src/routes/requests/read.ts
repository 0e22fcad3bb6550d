import { ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { requestNotFound } from '../../http/errors.ts';
import { requireValid } from '../../http/valid.ts';
import { andThen } from '../../ports/awaitable.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import { renderRecord } from '../../queue/renderRecord.ts';
import { parseRequestId } from './requestId.ts';

/** `GET /requests/{requestId}`: anyone reads a record. */
export function readRequestEndpoint(ports: { readonly requests: RequestStore }): Endpoint {
  return {
    route: ROUTES.readRequest,
    handle(call) {
      const [requestId] = requireValid(parseRequestId(call));
      return andThen(ports.requests.get(requestId), (record) => {
        if (record === undefined) throw requestNotFound(requestId);
        return { status: 200, body: renderRecord(record) };
      });
    },
  };
}
