import { parseReadQuery, parseRequestId, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { andThen, type HttpResponse } from '../../http/response.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { awaitMove, type MovePorts } from '../../requests/awaitMove.ts';
import { RequestNotFoundError } from '../../requests/errors.ts';

const answer = (record: StoredRequest): HttpResponse => ({ status: 200, body: renderRecord(record) });

interface WaitOptions {
  /** Longest wait of a stranger, in seconds. */
  readonly publicWaitSeconds: number;
}

/** `GET /requests/{requestId}`: anyone reads a record, or waits until its status is another one. */
export function readRequestEndpoint(ports: MovePorts, { publicWaitSeconds }: WaitOptions): Endpoint {
  return {
    route: ROUTES.readRequest,
    handle(request) {
      const [requestId, { status, waitSeconds: wantedSeconds }] = requireValid(
        parseRequestId(request.params.requestId),
        parseReadQuery(new URLSearchParams(request.query)),
      );
      const waitSeconds = Math.min(wantedSeconds, publicWaitSeconds);
      if (status !== undefined && waitSeconds > 0) {
        const { signal, timing } = request;
        return awaitMove(ports, { requestId, status, waitSeconds, signal, timing }).then(answer);
      }
      return andThen(ports.requests.get(requestId), (record) => {
        if (record === undefined) throw new RequestNotFoundError(requestId);
        return answer(record);
      });
    },
  };
}
