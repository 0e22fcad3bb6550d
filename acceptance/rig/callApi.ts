import { checkAnswer } from './checkAnswer.ts';
import type { HttpRequest, HttpResponse } from './httpMessage.ts';
import { waitOutLimits } from './waitOutLimits.ts';

/** The bytes that a call sends, or undefined for no body. */
export function bodyOf(call: Pick<HttpRequest, 'json' | 'body'>): Uint8Array<ArrayBuffer> | undefined {
  if (call.json !== undefined) return new TextEncoder().encode(JSON.stringify(call.json));
  if (call.body === undefined) return undefined;
  return typeof call.body === 'string' ? new TextEncoder().encode(call.body) : new Uint8Array(call.body);
}

function urlOf(base: string, { path, query }: HttpRequest): string {
  if (query === undefined) return `${base}${path}`;
  return `${base}${path}?${typeof query === 'string' ? query : new URLSearchParams(query)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function send(base: string, call: HttpRequest): Promise<HttpResponse> {
  const body = bodyOf(call);
  const headers = new Headers(call.headers);
  if (body !== undefined && call.contentType !== null)
    headers.set('content-type', call.contentType ?? 'application/json');
  const init = { method: call.method ?? 'GET', headers, redirect: 'manual', ...(body && { body }) } as const;
  const response = await fetch(urlOf(base, call), init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseJson(text) };
}

/**
 * Calls a gateway, and checks of its answer what holds for every answer. Where a limit refuses the call, it waits as it is
 * told and calls again.
 *
 * @param gateway.url - base URL, without a trailing slash
 * @throws AssertionError if the answer lacks what every answer has
 */
export async function callApi(gateway: { readonly url: string }, call: HttpRequest): Promise<HttpResponse> {
  const sendChecked = async () => {
    const answer = await send(gateway.url, call);
    checkAnswer(call, answer);
    return answer;
  };
  if (call.seesLimit) return await sendChecked();
  return await waitOutLimits(sendChecked, ({ status, headers }) => {
    return status === 429 ? (headers.get('retry-after') ?? '1') : undefined;
  });
}
