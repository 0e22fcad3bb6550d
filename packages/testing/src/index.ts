export { collectGarbage } from './collectGarbage.ts';
export { createFakeClock, type FakeClock } from './createFakeClock.ts';
export { createLogRecorder, type LogLine, type LogRecorder } from './createLogRecorder.ts';
export { createStreamReader, type StreamReader } from './dynamo/createStreamReader.ts';
export { DYNAMO_TEST_ACCESS, DynamoEngineMissingError, type DynamoServer } from './dynamo/dynamoServer.ts';
export { missingDynamoEngine } from './dynamo/missingDynamoEngine.ts';
export { startDynamo } from './dynamo/startDynamo.ts';
export { createSeededRandom } from './faults/createSeededRandom.ts';
export { FAULT_KINDS, type FaultKind, type FaultShares, shareFaults } from './faults/fault.ts';
export {
  type FaultProxy,
  type FaultProxyOptions,
  type ProxiedCall,
  startFaultProxy,
} from './faults/startFaultProxy.ts';
export { fillQueue } from './fillQueue.ts';
export { findFreePort } from './findFreePort.ts';
export { httpApiEvent } from './lambda/httpApiEvent.ts';
export type { Deployment, HttpCall } from './lambda/httpCall.ts';
export { RuntimeClientMissingError } from './lambda/installRuntimeClient.ts';
export { restApiEvent } from './lambda/restApiEvent.ts';
export { type RunningFunction, startFunction } from './lambda/startFunction.ts';
export { type LambdaGateway, startLambdaGateway } from './lambda/startLambdaGateway.ts';
export { type LoopbackServer, listenOnLoopback } from './listenOnLoopback.ts';
export { type Misbehaviour, misbehave } from './misbehave.ts';
export { mountSmall, type SmallDisk } from './mountSmall.ts';
export { mutateJson } from './mutateJson.ts';
export { type BrowserRig, findChromium, openBrowser } from './openBrowser.ts';
export {
  anyRequestArbitrary,
  createParamsArbitraries,
  type RequestArbitraryLimits,
  requestArbitrary,
} from './requestArbitraries.ts';
export type { RpcCall, RpcFault } from './rpcFault.ts';
export { type Anvil, type AnvilOptions, startAnvil } from './startAnvil.ts';
export { type BlackHole, startBlackHole } from './startBlackHole.ts';
export { type ChatReceiver, type ReceivedMessage, startChatReceiver } from './startChatReceiver.ts';
export { startFetchServer } from './startFetchServer.ts';
export { type JwtIssuer, type JwtIssuerOptions, startJwtIssuer } from './startJwtIssuer.ts';
export { type MailServer, type ReceivedMail, startMailServer } from './startMailServer.ts';
export {
  type IssueOptions,
  type OidcProvider,
  type OidcProviderOptions,
  startOidcProvider,
} from './startOidcProvider.ts';
export { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './startOtlpReceiver.ts';
export { type RpcFaultPlan, type RpcFaultProxy, startRpcFaultProxy } from './startRpcFaultProxy.ts';
export {
  type BatchRefusal,
  type RpcExchange,
  type RpcNode,
  type RpcNodeBehaviour,
  type RpcReply,
  startRpcNode,
} from './startRpcNode.ts';
export { type S3Server, startS3Server } from './startS3Server.ts';
export { startStrictS3Server } from './startStrictS3Server.ts';
export { type RunningGateway, startGateway } from './world/startGateway.ts';
