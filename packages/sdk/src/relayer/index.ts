export { createRelayerClient, type RelayerClient, type RelayerClientOptions } from './createRelayerClient.ts';
export { chooseFeedPause, type FeedPage, type FeedQuery, type FeedStart } from './followFeed.ts';
export type { BatchOutcome, Report } from './moveRequests.ts';
export { type MessageAccount, signRelayerCall } from './signRelayerCall.ts';
