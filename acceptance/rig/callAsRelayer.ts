import { bodyOf, callApi } from './callApi.ts';
import type { HttpRequest, HttpResponse } from './httpMessage.ts';
import { signHeaders, timestampNow } from './signHeaders.ts';
import type { Relayer } from './target.ts';

/** A call, and who signs it. */
export type RelayerCall = HttpRequest & { readonly relayer: Relayer };

/** Calls as a relayer: signs for now, over what is sent. A call that a limit put off is sent again as it was signed. */
export async function callAsRelayer(
  target: { readonly url: string; readonly clockAheadMs: number },
  { relayer, ...call }: RelayerCall,
): Promise<HttpResponse> {
  const body = bodyOf(call) ?? new Uint8Array();
  const signed = { method: call.method ?? 'GET', path: call.path, body, timestamp: timestampNow(target) };
  const headers = { ...(await signHeaders(relayer, signed)), ...call.headers };
  return await callApi(target, { ...call, headers });
}
