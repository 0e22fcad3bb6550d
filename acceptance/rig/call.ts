import { checkAnswer } from './checkAnswer.ts';
import { waitOutLimits } from './waitOutLimits.ts';

/** One HTTP call, by what it sends. */
export interface Call {
  /** Default GET. */
  readonly method?: string;
  /** From the API's root: without the base URL's own path. */
  readonly path: string;
  readonly query?: string | Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body to write as JSON. */
  readonly json?: unknown;
  /** A body to send as it is. */
  readonly body?: string | Uint8Array;
  /** Default application/json with a body; null: none. */
  readonly contentType?: string | null;
  /** 429 is what the test wants to see; otherwise the call waits and comes again. */
  readonly seesLimit?: boolean;
  /** A route that is no part of the API: only CORS and `X-Request-Id` are checked. */
  readonly isPlain?: boolean;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON; undefined where there is none. */
  readonly body: unknown;
}

/** The bytes that a call sends, or undefined for no body. */
export function bodyOf(call: Pick<Call, 'json' | 'body'>): Uint8Array<ArrayBuffer> | undefined {
  if (call.json !== undefined) return new TextEncoder().encode(JSON.stringify(call.json));
  if (call.body === undefined) return undefined;
  return typeof call.body === 'string' ? new TextEncoder().encode(call.body) : new Uint8Array(call.body);
}

function urlOf(base: string, { path, query }: Call): string {
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

async function send(base: string, call: Call): Promise<Answer> {
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
 * @throws AssertionError where the answer lacks what every answer has
 */
export async function callApi(gateway: { readonly url: string }, call: Call): Promise<Answer> {
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
