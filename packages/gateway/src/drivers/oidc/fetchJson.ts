import { providerFault } from './providerFault.ts';

/** How to reach the provider. */
export interface ProviderConnection {
  readonly fetch: typeof globalThis.fetch;
  /** For the whole exchange, body included. */
  readonly timeoutMs: number;
}

/** One call to the provider. */
export interface ProviderCall {
  readonly url: string;
  readonly init?: RequestInit;
  /** The resource's name, fit for a log: `key set`. */
  readonly name: string;
}

export interface JsonAnswer {
  readonly status: number;
  /** The parsed body, or undefined if it is not JSON. */
  readonly body: unknown;
}

/** Key sets with certificate chains reach tens of kilobytes; nothing honest comes near this. */
const MAX_ANSWER_BYTES = 256 * 1024;

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, and so the transfer.
    if (size > maxBytes) throw new RangeError(`answer over ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch says "fetch failed" and hides the reason in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return `${error.message} (${'code' in cause ? String(cause.code) : cause.message})`;
}

/**
 * Calls the provider and reads a bounded JSON answer. Redirects are refused: the configured place answers, or nobody,
 * so that a token or the client's secret never follows one elsewhere.
 *
 * @param connection - fetch and the time limit
 * @param call - where, how, and its name in the log
 * @returns status and parsed body
 * @throws DependencyUnavailableError when there is no whole answer in time, or it is too large
 */
export async function fetchJson(connection: ProviderConnection, call: ProviderCall): Promise<JsonAnswer> {
  try {
    const signal = AbortSignal.timeout(connection.timeoutMs);
    const response = await connection.fetch(call.url, { ...call.init, redirect: 'error', signal });
    return { status: response.status, body: parseJson(await readBounded(response, MAX_ANSWER_BYTES)) };
  } catch (error) {
    throw providerFault(`${call.name}: ${describe(error)}`, { cause: error });
  }
}
