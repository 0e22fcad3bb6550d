import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { type Hex, keccak256, stringToBytes } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type ShownCall, showAnswer, showCall } from './show.ts';

/** The walkthrough cannot go on: what happened, and what to do about it. */
export class WalkthroughError extends Error {
  override readonly name = 'WalkthroughError';
  readonly code = 'WALKTHROUGH_STOPPED';
}

export interface Answer {
  readonly status: number;
  /** Parsed JSON, or the text if it is none. */
  readonly body: unknown;
}

export interface CallOptions {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whose the headers are, for the reader. */
  readonly as: string;
  /** Shown to the reader, unless the call is one of many alike. */
  readonly quiet?: true;
  /** A shorter form of the body, if all of it would be too much. */
  readonly shownBody?: unknown;
  /** Only the answer's status is shown, where its body repeats the request's. */
  readonly quietAnswer?: true;
  readonly expected: number;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The headers that prove a relayer, for one call. */
export async function relayerHeaders(
  relayer: PrivateKeyAccount,
  call: { readonly method: string; readonly path: string; readonly body?: string },
): Promise<Record<string, string>> {
  const timestamp = String(Date.now());
  const [path = ''] = call.path.split('?');
  const bodyHash: Hex = keccak256(stringToBytes(call.body ?? ''));
  const message = createRelayerAuthMessage({ timestamp, method: call.method, path, bodyHash });
  return {
    'X-Relayer-Address': relayer.address,
    'X-Relayer-Signature': await relayer.signMessage({ message }),
    'X-Relayer-Timestamp': timestamp,
  };
}

export interface Client {
  readonly url: string;
  /** Sends a call and shows nothing of it. @throws WalkthroughError when nobody answers */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** @throws WalkthroughError when the answer has another status than expected */
  call(options: CallOptions): Promise<Answer>;
}

/** Makes the client that shows what it does. */
export function createClient(url: string): Client {
  async function fetchFrom(path: string, init?: RequestInit): Promise<Response> {
    try {
      return await fetch(`${url}${path}`, init);
    } catch (cause) {
      const what = `No gateway answers at ${url}. Start it with npx prism start, or name another one with --url.`;
      throw new WalkthroughError(what, { cause });
    }
  }
  function send({ path, method, headers: given }: CallOptions, body: string | undefined): Promise<Response> {
    const headers = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...given };
    return fetchFrom(path, { method, headers, ...(body !== undefined && { body }) });
  }
  return {
    url,
    fetch: fetchFrom,
    async call(options) {
      const { method, path: target, as, expected } = options;
      const shown: ShownCall = {
        method,
        target,
        as,
        ...('body' in options && { body: options.shownBody ?? options.body }),
      };
      if (!options.quiet) showCall(shown);
      const response = await send(options, options.body === undefined ? undefined : JSON.stringify(options.body));
      const answer = { status: response.status, body: parse(await response.text()) };
      const isExpected = answer.status === expected;
      if (!options.quiet || !isExpected)
        showAnswer(answer.status, options.quietAnswer && isExpected ? undefined : answer.body);
      if (isExpected) return answer;
      throw new WalkthroughError(`${method} ${target} was answered with ${answer.status}; ${expected} was expected.`);
    },
  };
}
