import {
  parseClaimRequests,
  parseReleaseRequest,
  parseReportRequests,
  parseRequestId,
  type RequestReport,
  ROUTES,
} from '@prism-gateway/protocol';
import { authenticateRelayer, claimedRelayer, type RelayerAuthPorts } from '../../auth/relayer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderBatch, renderRecord } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { type ClaimPorts, claimRequests } from '../../requests/claim.ts';
import { type ReportPorts, releaseRequest, reportRequests } from '../../requests/report.ts';

type BatchPorts = RelayerAuthPorts & ClaimPorts & ReportPorts;

/** `POST /requests/claims`: a relayer claims many requests by one call. */
export function claimRequestsEndpoint(ports: BatchPorts): Endpoint<string> {
  return {
    route: ROUTES.claimRequests,
    signsBody: true,
    countsItself: true,
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request, relayer) {
      const [{ requestIds }] = requireValid(parseBody(request.body, parseClaimRequests));
      await request.count(requestIds.length);
      const ids = requestIds.map((requestId) => requestId.toLowerCase());
      return { status: 200, body: renderBatch(await claimRequests(ports, ids, relayer)) };
    },
  };
}

const reportOf = (relayer: string, { requestId, ...outcome }: RequestReport) => ({
  requestId: requestId.toLowerCase(),
  relayer,
  outcome,
});

/** `POST /requests/reports`: a relayer reports how many requests ended by one call. */
export function reportRequestsEndpoint(ports: BatchPorts): Endpoint<string> {
  return {
    route: ROUTES.reportRequests,
    signsBody: true,
    countsItself: true,
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request, relayer) {
      const [{ reports }] = requireValid(parseBody(request.body, parseReportRequests));
      await request.count(reports.length);
      const batch = await reportRequests(
        ports,
        reports.map((report) => reportOf(relayer, report)),
      );
      return { status: 200, body: renderBatch(batch) };
    },
  };
}

/** `POST /requests/{requestId}/release`: the relayer that holds a request gives it back. */
export function releaseRequestEndpoint(ports: BatchPorts): Endpoint<string> {
  return {
    route: ROUTES.releaseRequest,
    signsBody: true,
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request, relayer) {
      const hasBody = request.body.byteLength > 0;
      const [requestId, { claimedAt }] = requireValid(
        parseRequestId(request.params.requestId),
        hasBody ? parseBody(request.body, parseReleaseRequest) : { value: {} as { readonly claimedAt?: string } },
      );
      const claim = claimedAt !== undefined && { claimedAt: Date.parse(claimedAt) };
      return { status: 200, body: renderRecord(await releaseRequest(ports, { requestId, relayer, ...claim })) };
    },
  };
}
