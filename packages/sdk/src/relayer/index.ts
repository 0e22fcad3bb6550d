export type { ClaimOrder } from './claimRequests.ts';
export { createRelayerClient, type RelayerClient, type RelayerClientOptions } from './createRelayerClient.ts';
export type { FeedPage, FeedQuery, FeedStart } from './followFeed.ts';
export type { BatchOutcome } from './readBatch.ts';
export type { Report } from './reportRequests.ts';
export { type MessageAccount, signRelayerCall } from './signRelayerCall.ts';
