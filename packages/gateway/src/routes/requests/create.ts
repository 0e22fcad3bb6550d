import { createRequestParser, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { type CreatePorts, createRequest } from '../../requests/create.ts';

/** `POST /requests`: anyone puts a signed request into the queue. */
export function createRequestEndpoint(ports: CreatePorts, limits: { readonly maxBatchSize: number }): Endpoint {
  const parse = createRequestParser(limits);
  return {
    route: ROUTES.createRequest,
    needsSpace: true,
    async handle(request) {
      const [body] = requireValid(parseBody(request.body, parse));
      return { status: 201, body: renderRecord(await createRequest(ports, body)) };
    },
  };
}
