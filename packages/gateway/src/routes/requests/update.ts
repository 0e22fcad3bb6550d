import { parseUpdateRequest, ROUTES, type UpdateRequestBody } from '@prism-gateway/protocol';
import type { RelayerAuthPorts } from '../../auth/relayer.ts';
import { relayerCaller } from '../../auth/relayerCaller.ts';
import { parseBody } from '../../http/body.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/valid.ts';
import { type ClaimPorts, claimRequest } from '../../queue/claim.ts';
import { renderRecord } from '../../queue/renderRecord.ts';
import { type ReportPorts, reportRequest } from '../../queue/report.ts';
import { parseRequestId } from './requestId.ts';

type UpdatePorts = RelayerAuthPorts & ClaimPorts & ReportPorts;

function move(ports: UpdatePorts, requestId: string, relayer: string, body: UpdateRequestBody) {
  if (body.status === 'processing') return claimRequest(ports, requestId, relayer);
  return reportRequest(ports, { requestId, relayer, outcome: body });
}

/** `PATCH /requests/{requestId}`: a relayer claims a request, or reports how it ended. */
export function updateRequestEndpoint(ports: UpdatePorts): Endpoint<string> {
  return {
    route: ROUTES.updateRequest,
    authenticate: (call) => relayerCaller(ports, call),
    async handle(call, relayer) {
      const [requestId, body] = requireValid(parseRequestId(call), parseBody(call.body, parseUpdateRequest));
      return { status: 200, body: renderRecord(await move(ports, requestId, relayer, body)) };
    },
  };
}
