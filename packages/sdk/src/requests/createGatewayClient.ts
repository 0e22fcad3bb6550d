import type { Action, ActionParams, CreateRequestBody, RequestRecord } from '@prism-gateway/protocol';
import { createTransport, type Transport, type TransportOptions } from '../http/createTransport.ts';
import { type CallOptions, getRequest } from './getRequest.ts';
import { type ListFilter, listRequests, type RequestList } from './listRequests.ts';
import { findSubmitted, submitRequest } from './submitRequest.ts';
import { type WaitForAllOptions, type WaitOptions, waitForRequest, waitForRequests } from './waitForRequest.ts';

/** A signed request, as `POST /requests` takes it. */
export interface SignedBody<A extends Action = Action> {
  /** Chain the request is for, like `eip155:31337`. */
  readonly chainName: string;
  readonly action: A;
  readonly params: ActionParams<A>;
}

/** The public part of the gateway: what needs no key. */
export interface GatewayClient {
  /** How it makes its calls; other clients share it. */
  readonly transport: Transport;
  /** Puts a signed request into the queue, once. @see submitRequest */
  submitRequest<A extends Action>(body: SignedBody<A>, options?: CallOptions): Promise<RequestRecord<A>>;
  /** Looks for a request of this very content and signature. @returns undefined if it was never stored */
  findRequest<A extends Action>(body: SignedBody<A>, options?: CallOptions): Promise<RequestRecord<A> | undefined>;
  /** Reads a request. @throws GatewayError NOT_FOUND */
  getRequest(requestId: string, options?: CallOptions): Promise<RequestRecord>;
  /** Lists a signer's requests; `status` and `chainName` are for relayers. */
  listRequests(filter: ListFilter, options?: CallOptions): RequestList;
  /** Waits until a request has ended. @throws GatewayError WAIT_TIMED_OUT, ABORTED */
  waitForRequest(requestId: string, options?: WaitOptions): Promise<RequestRecord>;
  /** Waits until some requests have ended, with progress. @throws GatewayError WAIT_TIMED_OUT, ABORTED */
  waitForRequests(requestIds: readonly string[], options?: WaitForAllOptions): Promise<RequestRecord[]>;
}

/**
 * Makes a client of the gateway's public part. It is small: no viem, no schemas.
 *
 * @param options.url - where the gateway is
 * @returns the client; nothing is asked yet
 * @example
 * const gateway = createGatewayClient({ url: 'http://127.0.0.1:8787' });
 * const record = await gateway.waitForRequest(requestId, { timeoutMs: 60_000 });
 */
export function createGatewayClient(options: TransportOptions): GatewayClient {
  const transport = createTransport(options);
  return {
    transport,
    async submitRequest<A extends Action>(body: SignedBody<A>, options?: CallOptions) {
      // The action and its params go together by the type of `SignedBody`; the answer repeats them.
      const given = body as unknown as CreateRequestBody;
      return (await submitRequest(transport, { ...options, body: given })) as unknown as RequestRecord<A>;
    },
    async findRequest<A extends Action>(body: SignedBody<A>, options?: CallOptions) {
      // As above.
      const given = body as unknown as CreateRequestBody;
      return (await findSubmitted(transport, { ...options, body: given })) as unknown as RequestRecord<A> | undefined;
    },
    getRequest: (requestId, options) => getRequest(transport, { ...options, requestId }),
    listRequests: (filter, options) => listRequests(transport, { ...filter, ...options }),
    waitForRequest: (requestId, wait) => waitForRequest(transport, { ...wait, requestId }),
    waitForRequests: (requestIds, wait) => waitForRequests(transport, { ...wait, requestIds }),
  };
}
