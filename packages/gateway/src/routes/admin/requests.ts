import {
  parseFailRequest,
  parseListAllRequests,
  parseRequestId,
  type RequestPurged,
  ROUTES,
} from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { type HttpRequest, parseBody, requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type AdministerPorts,
  failRequest,
  listAllRequests,
  purgeRequest,
  releaseClaim,
} from '../../requests/administer.ts';
import { type AdminAccess, logAct } from './adminAccess.ts';

type AdminPorts = AdministerPorts & { readonly logger: Logger };

function readRequestId(request: HttpRequest): string {
  const [requestId] = requireValid(parseRequestId(request.params.requestId));
  return requestId.toLowerCase();
}

/** `GET /admin/requests`: requests by any filter, or all. */
export function listAllRequestsEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.listAllRequests,
    async handle(request) {
      const [query] = requireValid(parseListAllRequests(new URLSearchParams(request.query)));
      const { items, lastKey } = await listAllRequests(ports, query);
      const records = items.map(renderRecord).join(',');
      return {
        status: 200,
        body: `{"items":[${records}],"count":${items.length},"lastKey":${JSON.stringify(lastKey)}}`,
      };
    },
  };
}

/** `POST /admin/requests/{requestId}/release`: gives a claimed request back in its owner's stead. */
export function releaseClaimEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.releaseClaim,
    async handle(request, keyId) {
      const record = await releaseClaim(ports, readRequestId(request));
      logAct(ports, { act: 'requests.release', keyId, target: record.requestId });
      return { status: 200, body: renderRecord(record) };
    },
  };
}

/** `POST /admin/requests/{requestId}/fail`: ends a claimed request in its owner's stead. */
export function failRequestEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.failRequest,
    async handle(request, keyId) {
      const requestId = readRequestId(request);
      const [{ errorMessage }] = requireValid(parseBody(request.body, parseFailRequest));
      const record = await failRequest(ports, { requestId, errorMessage });
      logAct(ports, { act: 'requests.fail', keyId, target: record.requestId, reason: errorMessage });
      return { status: 200, body: renderRecord(record) };
    },
  };
}

/** `DELETE /admin/requests/{requestId}`: removes a request that nobody holds. */
export function purgeRequestEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.purgeRequest,
    async handle(request, keyId) {
      const requestId = readRequestId(request);
      await purgeRequest(ports, requestId);
      logAct(ports, { act: 'requests.purge', keyId, target: requestId });
      const body: RequestPurged = { message: 'The request is removed for good.', requestId };
      return jsonResponse(200, body);
    },
  };
}
