export {
  GatewayError,
  type GatewayErrorCode,
  type GatewayFault,
  isGatewayError,
} from '../errors/gatewayError.ts';
export type { Transport, TransportOptions } from '../http/createTransport.ts';
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../http/retryPolicy.ts';
export { createGatewayClient, type GatewayClient, type SignedBody } from './createGatewayClient.ts';
export type { CallOptions } from './getRequest.ts';
export type { ListFilter, RequestList } from './listRequests.ts';
export type { WaitOptions } from './waitForRequest.ts';
export type { WaitForAllOptions, WaitProgress } from './waitForRequests.ts';
