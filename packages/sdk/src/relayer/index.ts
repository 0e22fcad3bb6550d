export { createRelayerClient, type RelayerClient, type RelayerClientOptions } from './createRelayerClient.ts';
export { type MessageAccount, signRelayerCall } from './signRelayerCall.ts';
