export { createRelayerClient, type RelayerClient, type RelayerClientOptions } from './createRelayerClient.ts';
export type { FeedPage, FeedQuery, FeedStart } from './followFeed.ts';
export type { BatchOutcome, ClaimOrder, Report } from './moveRequests.ts';
export { type MessageAccount, signRelayerCall } from './signRelayerCall.ts';
