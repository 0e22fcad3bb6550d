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
  reopenRequest,
} from '../../requests/administer.ts';
import { renderPage } from '../requests/list.ts';
import { type AdminAccess, auditAct } from './adminAccess.ts';

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
      return { status: 200, body: renderPage(await listAllRequests(ports, query), query.limit) };
    },
  };
}

/** `POST /admin/requests/{requestId}/release`: gives a claimed request back in its owner's stead. */
export function releaseClaimEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.releaseClaim,
    async handle(request, keyId) {
      const requestId = readRequestId(request);
      const act = { act: 'requests.release', keyId, target: requestId };
      const record = await auditAct(ports, act, () => releaseClaim(ports, requestId));
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
      const act = { act: 'requests.fail', keyId, target: requestId, reason: errorMessage };
      const record = await auditAct(ports, act, () => failRequest(ports, { requestId, errorMessage }));
      return { status: 200, body: renderRecord(record) };
    },
  };
}

/** `POST /admin/requests/{requestId}/reopen`: makes what a suspended relayer reported failed pending again. */
export function reopenRequestEndpoint(ports: AdminPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.reopenRequest,
    async handle(request, keyId) {
      const requestId = readRequestId(request);
      const act = { act: 'requests.reopen', keyId, target: requestId };
      const record = await auditAct(ports, act, () => reopenRequest(ports, requestId));
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
      const act = { act: 'requests.purge', keyId, target: requestId };
      await auditAct(ports, act, () => purgeRequest(ports, requestId));
      const body: RequestPurged = { message: 'The request is removed for good.', requestId };
      return jsonResponse(200, body);
    },
  };
}
