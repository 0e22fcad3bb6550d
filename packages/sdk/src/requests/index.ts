export {
  GatewayError,
  type GatewayErrorCode,
  type GatewayErrorKind,
  type GatewayFault,
  isGatewayError,
} from '../errors/gatewayError.ts';
export type { Transport, TransportOptions } from '../http/createTransport.ts';
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../http/withRetries.ts';
export { createGatewayClient, type GatewayClient, type SignedBody } from './createGatewayClient.ts';
export type { CallOptions } from './getRequest.ts';
export type { ListFilter, RequestList } from './listRequests.ts';
export type { WaitForAllOptions, WaitOptions, WaitProgress } from './waitForRequest.ts';
