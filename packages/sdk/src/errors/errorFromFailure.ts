import { GatewayError } from './gatewayError.ts';

/** Failures of Node's fetch that come before a byte of the call has gone out; a browser does not say. */
const unsentCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function wasSent(failure: unknown): boolean {
  // `Object` makes something to look into of whatever was thrown.
  return !unsentCodes.has(Object(Object(failure).cause).code);
}

/**
 * Makes the error for a call whose caller has lost interest.
 *
 * @param what - the call in words, like `POST /requests`
 */
export function abortedError(what: string, signal: AbortSignal, mayHaveHappened: boolean): GatewayError {
  const message = `${what} was aborted by its caller.`;
  return new GatewayError({ code: 'ABORTED', message, mayHaveHappened, cause: signal.reason });
}

/**
 * Makes the error for a call that got no whole answer.
 *
 * @param failure - what fetch, or reading the body, threw
 * @param call.what - the call in words, like `POST /requests`
 */
export function errorFromFailure(
  failure: unknown,
  call: { readonly what: string; readonly signal?: AbortSignal | undefined },
): GatewayError {
  if (failure instanceof GatewayError) return failure;
  if (call.signal?.aborted) return abortedError(call.what, call.signal, true);
  const isTimeout = Object(failure).name === 'TimeoutError';
  const why = isTimeout ? 'it took too long' : 'the network failed, or the gateway is not there';
  const message = `${call.what} got no whole answer: ${why}.`;
  return new GatewayError({ code: 'NETWORK_FAILED', message, mayHaveHappened: wasSent(failure), cause: failure });
}
