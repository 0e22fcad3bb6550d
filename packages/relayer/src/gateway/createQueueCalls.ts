import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError, type MessageAccount, signRelayerCall, type Transport } from '@prism-gateway/sdk';
import type { Ended } from '../lifecycle/openRequest.ts';

/** A page of the feed. */
export interface FeedPage {
  readonly items: readonly RequestRecord[];
  /** Where the next page begins; never null. */
  readonly cursor: string;
}

/** Where a page of the feed begins: behind a cursor, from the oldest on, or from now on. */
export interface FeedQuery {
  readonly cursor?: string | undefined;
  readonly from?: 'now' | undefined;
  /** How long the gateway may wait for something new, in seconds. */
  readonly wait: number;
}

/** Those requests of a batch that were not moved. */
export interface BatchAnswer {
  readonly conflicts: readonly { readonly requestId: string; readonly status: string }[];
}

/** The gateway's calls beyond the specification that a relayer makes. @see docs/specification.md */
export interface QueueCalls {
  /** @throws GatewayError */
  feed(query: FeedQuery): Promise<FeedPage>;
  /** @throws GatewayError */
  claim(requestIds: readonly string[]): Promise<BatchAnswer>;
  /** @throws GatewayError */
  report(ended: readonly Ended[]): Promise<BatchAnswer>;
}

const WHAT_IS_ABSENT = [404, 405, 501];

/** Whether a gateway does not know a call: it has the specification's alone. @param error - what the call has thrown */
export function isAbsent(error: unknown): boolean {
  return error instanceof GatewayError && WHAT_IS_ABSENT.includes(error.status ?? 0);
}

/** @throws GatewayError UNEXPECTED_ANSWER */
function readObject<T extends object>(what: string, answer: unknown, list: keyof T & string): T {
  // Read with care until it has shown what it is.
  const read = Object(answer) as T;
  if (Array.isArray(read[list])) return read;
  throw new GatewayError({ code: 'UNEXPECTED_ANSWER', message: `${what} was not answered with ${list}.` });
}

/**
 * Makes the calls of one chain.
 *
 * @param options.transport - the way to the gateway
 * @param options.account - signs relayer auth
 * @param options.signal - ends what is under way
 */
export function createQueueCalls(options: {
  readonly transport: Transport;
  readonly account: MessageAccount;
  readonly chainName: string;
  readonly signal: AbortSignal;
}): QueueCalls {
  const { transport, account, chainName, signal } = options;
  const makeHeaders = signRelayerCall.bind(undefined, { account, now: transport.now });
  const post = (path: string, body: unknown) =>
    transport.call({ method: 'POST', path, body, repeat: 'freely', makeHeaders, signal });
  return {
    async feed(query) {
      const [method, path] = ['GET', '/requests/feed'] as const;
      const call = { method, path, query: { chainName, ...query }, repeat: 'freely', makeHeaders, signal } as const;
      return readObject<FeedPage>('GET /requests/feed', await transport.call(call), 'items');
    },
    async claim(requestIds) {
      return readObject<BatchAnswer>(
        'POST /requests/claims',
        await post('/requests/claims', { requestIds }),
        'conflicts',
      );
    },
    async report(ended) {
      const reports = ended.map(({ requestId, outcome }) => ({ requestId, ...outcome }));
      return readObject<BatchAnswer>(
        'POST /requests/reports',
        await post('/requests/reports', { reports }),
        'conflicts',
      );
    },
  };
}
