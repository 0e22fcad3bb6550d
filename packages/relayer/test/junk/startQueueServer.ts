import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { RequestRecord } from '@prism-gateway/protocol';
import { listenOnLoopback } from '@prism-gateway/testing';

/** What is asked for, and where it goes. */
export type PostedBody = Pick<RequestRecord, 'action' | 'signer' | 'params'>;

/**
 * A small gateway of one chain, whose queue begins with any number of requests that are made as they are asked for: no store has to
 * be filled first, and only the relayer is measured. It speaks what a relayer needs, and believes everybody.
 */
export interface QueueServer extends AsyncDisposable {
  readonly url: string;
  /** Puts a request behind all others. @returns its id */
  post(body: PostedBody): string;
  read(requestId: string): RequestRecord | undefined;
  /** How long after its posting a request was claimed, in milliseconds; undefined where it is not. */
  claimedAfterMs(requestId: string): number | undefined;
  /** How many requests of the beginning have been shown, those shown again counted again. */
  shown(): number;
}

const CHAIN_NAME = 'eip155:31337';
const PAGE = 100;
const MAX_WAIT_MS = 25_000;

interface Claim {
  status: RequestRecord['status'];
  readonly claimedBy: string;
  readonly atMs: number;
  outcome: object;
}

const idOf = (position: number) => `00000000-0000-7000-8000-${position.toString(16).padStart(12, '0')}`;
const positionOf = (requestId: string) => Number.parseInt(requestId.slice(-12), 16);

/**
 * Starts the gateway.
 *
 * @param options.count - requests that stand at the beginning
 * @param options.make - makes one of them, the same each time it is asked
 */
export async function startQueueServer(options: {
  readonly count: number;
  readonly make: (position: number) => PostedBody;
}): Promise<QueueServer> {
  const { count, make } = options;
  const posted: { readonly body: PostedBody; readonly atMs: number }[] = [];
  const claims = new Map<string, Claim>();
  let shown = 0;
  let more = Promise.withResolvers<void>();

  function read(requestId: string): RequestRecord | undefined {
    const position = positionOf(requestId);
    const body = position < count ? make(position) : posted[position - count]?.body;
    if (body === undefined) return undefined;
    const { status = 'pending', claimedBy, atMs, outcome } = claims.get(requestId) ?? {};
    const at = new Date(1_760_000_000_000 + position).toISOString();
    const claimed = claimedBy && { claimedBy, claimedAt: new Date(atMs ?? 0).toISOString() };
    // The parts of a record.
    return {
      requestId,
      chainName: CHAIN_NAME,
      status,
      ...body,
      createdAt: at,
      updatedAt: at,
      ...claimed,
      ...outcome,
    } as RequestRecord;
  }

  function readPage(from: number) {
    const items: RequestRecord[] = [];
    let position = from;
    for (; position < count + posted.length && items.length < PAGE; position += 1) {
      const record = claims.has(idOf(position)) ? undefined : read(idOf(position));
      if (record !== undefined) items.push(record);
    }
    if (from < count) shown += items.length;
    return { items, count: items.length, cursor: String(position) };
  }

  async function feed(query: URLSearchParams) {
    const from = query.get('from') === 'now' ? count + posted.length : Number(query.get('cursor') ?? 0);
    const waitMs = Math.min(MAX_WAIT_MS, Number(query.get('wait')) * 1000);
    const page = readPage(from);
    if (page.items.length > 0 || waitMs === 0) return page;
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(timer.resolve, waitMs);
    await Promise.race([more.promise, timer.promise]);
    clearTimeout(timeout);
    return readPage(from);
  }

  function move(requestIds: readonly string[], act: (requestId: string) => boolean) {
    const conflicts = requestIds.filter((id) => !act(id)).map((requestId) => ({ requestId, status: 'processing' }));
    return { items: [], count: requestIds.length - conflicts.length, conflicts };
  }

  interface Moves {
    readonly requestIds?: readonly string[];
    readonly reports?: readonly { readonly requestId: string; readonly status: 'success' | 'failed' }[];
  }

  function claim(claimedBy: string, { requestIds = [] }: Moves) {
    return move(requestIds, (id) => {
      if (claims.has(id)) return false;
      claims.set(id, { status: 'processing', claimedBy, atMs: Date.now(), outcome: {} });
      return true;
    });
  }

  function report({ reports = [] }: Moves) {
    const byId = new Map(reports.map((one) => [one.requestId, one]));
    return move([...byId.keys()], (id) => {
      const [held, { status = 'failed', ...outcome } = {}] = [claims.get(id), byId.get(id)];
      if (held?.status !== 'processing') return false;
      Object.assign(held, { status, outcome });
      return true;
    });
  }

  async function answer(incoming: IncomingMessage): Promise<unknown> {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://127.0.0.1');
    const relayer = String(incoming.headers['x-relayer-address']);
    if (pathname === '/requests/feed') return await feed(searchParams);
    if (pathname === '/requests/claims') return claim(relayer, (await json(incoming)) as Moves);
    if (pathname === '/requests/reports') return report((await json(incoming)) as Moves);
    if (pathname === '/requests') return { items: [], count: 0, lastKey: null };
    const requestId = pathname.replace('/requests/', '');
    if (incoming.method === 'PATCH') {
      const body = (await json(incoming)) as { readonly status: 'processing' | 'success' | 'failed' };
      const { status } = body;
      if (status === 'processing') claim(relayer, { requestIds: [requestId] });
      else report({ reports: [{ requestId, ...body, status }] });
    }
    return read(requestId);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming).then(
      (body) => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => outgoing.writeHead(500).end('{"error":"no"}'),
    );
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    post(body) {
      posted.push({ body, atMs: Date.now() });
      more.resolve();
      more = Promise.withResolvers();
      return idOf(count + posted.length - 1);
    },
    read,
    claimedAfterMs(requestId) {
      const [held, body] = [claims.get(requestId), posted[positionOf(requestId) - count]];
      return held === undefined || body === undefined ? undefined : held.atMs - body.atMs;
    },
    shown: () => shown,
    [Symbol.asyncDispose]: close,
  };
}
