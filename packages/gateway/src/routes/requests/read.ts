import { parseReadQuery, parseRequestId, ROUTES } from '@prism-gateway/protocol';
import { createRecordRenderer } from '../../http/createRecordRenderer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/request.ts';
import { andThen, askAgain, type HttpResponse } from '../../http/response.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { awaitMove, type MovePorts } from '../../requests/awaitMove.ts';
import { RequestNotFoundError } from '../../requests/errors.ts';

interface WaitOptions {
  /** Longest wait of a stranger, in seconds. */
  readonly publicWaitSeconds: number;
}

/** `GET /requests/{requestId}`: anyone reads a record, or waits until its status is another one. */
export function readRequestEndpoint(ports: MovePorts, { publicWaitSeconds }: WaitOptions): Endpoint {
  const render = createRecordRenderer();
  const answer = (record: StoredRequest): HttpResponse => ({ status: 200, body: render(record) });
  return {
    route: ROUTES.readRequest,
    handle(request) {
      const [requestId, { seen: status, waitSeconds: wantedSeconds }] = requireValid(
        parseRequestId(request.params.requestId),
        parseReadQuery(new URLSearchParams(request.query)),
      );
      if (status !== undefined && wantedSeconds > 0) {
        const { peer: client, signal, timing } = request;
        const waitSeconds = Math.min(wantedSeconds, publicWaitSeconds);
        return awaitMove(ports, { requestId, status, client, waitSeconds, signal, timing }).then((record) => {
          const mayWait = waitSeconds > 0 && ports.waits.isOpen();
          return mayWait || record.status !== status ? answer(record) : askAgain(answer(record));
        });
      }
      return andThen(ports.requests.get(requestId), (record) => {
        if (record === undefined) throw new RequestNotFoundError(requestId);
        return answer(record);
      });
    },
  };
}
