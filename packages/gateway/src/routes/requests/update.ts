import { parseRequestId, parseUpdateRequest, ROUTES, type UpdateRequestBody } from '@prism-gateway/protocol';
import { authenticateRelayer, claimedRelayer, type RelayerAuthPorts } from '../../auth/relayer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { type ClaimPorts, claimRequest } from '../../requests/claim.ts';
import { type ReportPorts, reportRequest } from '../../requests/report.ts';

type UpdatePorts = RelayerAuthPorts & ClaimPorts & ReportPorts;

function move(ports: UpdatePorts, requestId: string, relayer: string, body: UpdateRequestBody) {
  if (body.status === 'processing') return claimRequest(ports, requestId, relayer);
  return reportRequest(ports, { requestId, relayer, outcome: body });
}

/** `PATCH /requests/{requestId}`: a relayer claims a request, or reports how it ended. */
export function updateRequestEndpoint(ports: UpdatePorts): Endpoint<string> {
  return {
    route: ROUTES.updateRequest,
    signsBody: true,
    countsItself: true,
    claimedCaller: claimedRelayer,
    authenticate: (request) => authenticateRelayer(ports, request),
    async handle(request, relayer) {
      const [requestId, body] = requireValid(
        parseRequestId(request.params.requestId),
        parseBody(request.body, parseUpdateRequest),
      );
      await request.count(1, body.status === 'processing' ? 'claims' : 'reports');
      return { status: 200, body: renderRecord(await move(ports, requestId, relayer, body)) };
    },
  };
}
