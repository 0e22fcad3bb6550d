import { createRequestParser, parseCreateQuery, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { createdResponse } from '../../http/response.ts';
import type { PendingSpace } from '../../ports/gatewayPorts.ts';
import { RECORD_BYTES } from '../../ports/requestStore.ts';
import { type CreatePorts, createRequest } from '../../requests/create.ts';

export interface CreateOptions {
  /** Most entries of a batch array. */
  readonly maxBatchSize: number;
  /** The only chains that requests are taken for; empty: any. */
  readonly chains: readonly string[];
  /** Whether every signature is taken once, asked or not. */
  readonly alwaysOnce: boolean;
}

/** `POST /requests`: anyone puts a signed request into the queue. */
export function createRequestEndpoint(
  ports: CreatePorts & { readonly pendingSpace?: PendingSpace | undefined },
  options: CreateOptions,
): Endpoint {
  const { maxBatchSize, chains, alwaysOnce } = options;
  const { pendingSpace: space } = ports;
  const parse = createRequestParser({ maxBatchSize, ...(chains.length > 0 && { chains }) });
  return {
    route: ROUTES.createRequest,
    needsSpace: true,
    async handle(request) {
      const [{ once }, body] = requireValid(
        parseCreateQuery(new URLSearchParams(request.query)),
        parseBody(request.body, parse),
      );
      const holders = await space?.admit(request.peer, request.body.byteLength + RECORD_BYTES);
      const { outcome, record } = await createRequest(ports, {
        body,
        once: once || alwaysOnce,
        ...(holders && { holders }),
      });
      const answer = renderRecord(record);
      if (outcome !== 'created') return { status: 200, body: answer };
      return createdResponse(`requests/${record.requestId}`, answer);
    },
  };
}
