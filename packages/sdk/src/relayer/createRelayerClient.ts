import type { RequestRecord } from '@prism-gateway/protocol';
import { createTransport, type TransportOptions } from '../http/createTransport.ts';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import { type CallOptions, getRequest } from '../requests/getRequest.ts';
import { type ListFilter, listRequests, type RequestList } from '../requests/listRequests.ts';
import { type FeedPage, type FeedQuery, type FeedStart, followFeed, readFeed } from './followFeed.ts';
import { claimRequest, releaseRequest, reportRequest } from './moveRequest.ts';
import { type BatchOutcome, claimRequests, type Report, reportRequests } from './moveRequests.ts';
import { type MessageAccount, signRelayerCall } from './signRelayerCall.ts';

/** Options of a relayer's client: an account on the whitelist, and a way to the gateway. */
export type RelayerClientOptions = { readonly account: MessageAccount } & (
  | { readonly gateway: GatewayClient }
  | (TransportOptions & {
      /** Where the feed alone is read: on AWS the function's own address, past an edge that is paid for by the call. Default `url`. */
      readonly feedUrl?: string | undefined;
    })
);

/** The gateway as a relayer sees it; each call is signed. */
export interface RelayerClient {
  /** The relayer's address. */
  readonly address: string;
  /** Lists requests by state, chain and signer, oldest first unless set otherwise. */
  list(filter: ListFilter, options?: CallOptions): RequestList;
  /** Reads a request. */
  get(requestId: string, options?: CallOptions): Promise<RequestRecord>;
  /** Takes a request exclusively. @throws GatewayError CONFLICT when another was first @see claimRequest */
  claim(requestId: string, options?: CallOptions): Promise<RequestRecord>;
  /** Reports success. @param txHash - `0x` and 64 hex digits @throws GatewayError CONFLICT @see reportRequest */
  reportSuccess(requestId: string, txHash: string, options?: CallOptions): Promise<RequestRecord>;
  /** Reports failure. @param errorMessage - 1 to 1000 characters @throws GatewayError CONFLICT @see reportRequest */
  reportFailure(requestId: string, errorMessage: string, options?: CallOptions): Promise<RequestRecord>;
  /** Claims 1 to 100 in one call. @throws GatewayError @see claimRequests */
  claimRequests(order: { readonly requestIds: readonly string[] }, options?: CallOptions): Promise<BatchOutcome>;
  /** Reports 1 to 100 in one call. @throws GatewayError @see reportRequests */
  reportRequests(reports: readonly Report[], options?: CallOptions): Promise<BatchOutcome>;
  /** Gives a claimed request back. @throws GatewayError CONFLICT when this relayer does not hold it @see releaseRequest */
  releaseRequest(requestId: string, options?: CallOptions): Promise<RequestRecord>;
  /** Follows what becomes pending, without an end. @throws GatewayError @see followFeed */
  followFeed(start: FeedStart): AsyncGenerator<FeedPage, never>;
  /** Reads one page of the feed. @throws GatewayError */
  readFeed(query: FeedQuery): Promise<FeedPage>;
}

/**
 * Makes a relayer's client of the gateway.
 *
 * @param options.account - a viem local account, or whatever signs personal messages with an address
 * @example
 * const relayer = createRelayerClient({ url, account: privateKeyToAccount(key) });
 * for await (const record of relayer.list({ status: 'pending', chainName: 'eip155:31337' })) await relayer.claim(record.requestId);
 */
export function createRelayerClient(options: RelayerClientOptions): RelayerClient {
  const transport = 'gateway' in options ? options.gateway.transport : createTransport(options);
  const signer = { account: options.account, now: transport.now };
  const { address } = options.account;
  const context = { transport, address, makeHeaders: signRelayerCall.bind(undefined, signer) };
  const feedUrl = 'gateway' in options ? undefined : options.feedUrl;
  const feed =
    feedUrl === undefined ? context : { ...context, transport: createTransport({ ...options, url: feedUrl }) };
  return {
    address,
    list: (filter, { signal } = {}) => listRequests(transport, { ...filter, signal, makeHeaders: context.makeHeaders }),
    get: (requestId, { signal } = {}) => getRequest(transport, { requestId, signal }),
    claim: (requestId, { signal } = {}) => claimRequest(context, { requestId, signal }),
    reportSuccess: (requestId, txHash, { signal } = {}) =>
      reportRequest(context, { requestId, outcome: { status: 'success', txHash }, signal }),
    reportFailure: (requestId, errorMessage, { signal } = {}) =>
      reportRequest(context, { requestId, outcome: { status: 'failed', errorMessage }, signal }),
    claimRequests: (order, { signal } = {}) => claimRequests(context, { ...order, signal }),
    reportRequests: (reports, { signal } = {}) => reportRequests(context, { reports, signal }),
    releaseRequest: (requestId, { signal } = {}) => releaseRequest(context, { requestId, signal }),
    followFeed: (start) => followFeed(feed, start),
    readFeed: (query) => readFeed(feed, query),
  };
}
