import { createRequestParser, ROUTES } from '@prism-gateway/protocol';
import { parseBody } from '../../http/body.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/valid.ts';
import { type CreatePorts, createRequest } from '../../queue/create.ts';
import { renderRecord } from '../../queue/renderRecord.ts';

/** `POST /requests`: anyone puts a signed request into the queue. */
export function createRequestEndpoint(ports: CreatePorts, limits: { readonly maxBatchSize: number }): Endpoint {
  const parse = createRequestParser(limits);
  return {
    route: ROUTES.createRequest,
    async handle(call) {
      const [body] = requireValid(parseBody(call.body, parse));
      return { status: 201, body: renderRecord(await createRequest(ports, body)) };
    },
  };
}
