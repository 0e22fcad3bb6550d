import type { Call } from '../../http/call.ts';

/** A call as the router hands it to a handler. @param params - path parameters */
export function exampleCall(params: Readonly<Record<string, string>>): Call {
  const request = new Request('http://127.0.0.1/');
  return { request, method: 'GET', path: '/', query: '', params, peer: '127.0.0.1', body: new Uint8Array(0) };
}
