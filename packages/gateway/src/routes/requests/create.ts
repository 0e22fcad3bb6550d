import { createRequestParser, parseCreateQuery, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRecord } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
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
export function createRequestEndpoint(ports: CreatePorts, options: CreateOptions): Endpoint {
  const { maxBatchSize, chains, alwaysOnce } = options;
  const parse = createRequestParser({ maxBatchSize, ...(chains.length > 0 && { chains }) });
  return {
    route: ROUTES.createRequest,
    needsSpace: true,
    async handle(request) {
      const [{ once }, body] = requireValid(
        parseCreateQuery(new URLSearchParams(request.query)),
        parseBody(request.body, parse),
      );
      const { outcome, record } = await createRequest(ports, { body, once: once || alwaysOnce });
      return { status: outcome === 'created' ? 201 : 200, body: renderRecord(record) };
    },
  };
}
