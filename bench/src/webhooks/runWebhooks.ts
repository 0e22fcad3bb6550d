import { Agent, createServer, request } from 'node:http';
import { listenOnLoopback, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { createBody } from '../load/createParams.ts';
import { loadRelayers } from '../load/loadRelayers.ts';
import type { Call } from '../load/runLoad.ts';
import { createCall, readRequestId } from '../measures/createRequests.ts';
import { updateCall } from '../measures/measureClaim.ts';
import type { Options } from '../options.ts';
import { whitelist } from '../processes/startGateway.ts';
import type { Report } from '../report/printReport.ts';
import type { ResultRow } from '../report/summariseRow.ts';

const FULL = { reports: 200, backlog: 10_000, roundMs: 5000 };
const QUICK = { reports: 20, backlog: 500, roundMs: 1000 };
const WINDOW_MS = 1000;
const LANES = 16;
const POLL_MS = 2;

type Scale = typeof FULL;

/** A gateway, who calls it, and a receiver of its webhooks. */
interface World {
  readonly gateway: RunningGateway;
  send(call: Call): Promise<string>;
  admin(method: string, path: string, json?: object): Promise<string>;
  /** Arrivals by delivery, and the status to answer with. */
  readonly receiver: { readonly url: string; status: number; readonly arrivals: Map<string, number>; count: number };
}

/** Makes calls over connections that stay open. @returns a function that gives the body of an answer that is 2xx */
function createSender(stack: AsyncDisposableStack, url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  stack.defer(async () => agent.destroy());
  return (call: { method: string; path: string; headers?: Readonly<Record<string, string>>; body?: string }) => {
    const { method, path, body = '' } = call;
    const headers = { ...call.headers, 'content-length': Buffer.byteLength(body) };
    return new Promise<string>((resolve, reject) => {
      const outgoing = request(`${url}${path}`, { method, agent, headers }, async (incoming) => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        if (Math.floor((incoming.statusCode ?? 0) / 100) === 2) resolve(text);
        else reject(new Error(`${method} ${path} was answered ${incoming.statusCode}: ${text}`));
      });
      outgoing.on('error', reject).end(body);
    });
  };
}

async function startReceiver(stack: AsyncDisposableStack): Promise<World['receiver']> {
  const receiver = { url: '', status: 204, arrivals: new Map<string, number>(), count: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    outgoing.writeHead(receiver.status).end();
    if (receiver.status !== 204) return;
    receiver.count++;
    receiver.arrivals.set(readRequestId(Buffer.concat(chunks).toString()), at);
  });
  const { url, close } = await listenOnLoopback(server);
  stack.defer(close);
  receiver.url = `${url}/`;
  return receiver;
}

async function startWorld(stack: AsyncDisposableStack): Promise<World> {
  const env = { WEBHOOKS_ALLOW_PRIVATE: 'true' };
  const gateway = stack.use(await startGateway({ env }));
  const send = createSender(stack, gateway.url);
  const headers = { 'content-type': 'application/json', 'x-admin-key': gateway.adminKey };
  const admin: World['admin'] = (method, path, json) =>
    send({ method, path: `/admin${path}`, headers, ...(json !== undefined && { body: JSON.stringify(json) }) });
  return { gateway, send, admin, receiver: await startReceiver(stack) };
}

const idOf = (body: string) => (JSON.parse(body) as { readonly webhookId: string }).webhookId;

/** From the call that reports to the arrival at the receiver, one after another. @returns milliseconds, sorted */
async function measureLatency({ gateway, send, admin, receiver }: World, reports: number): Promise<readonly number[]> {
  const [relayer] = await loadRelayers(1);
  if (relayer === undefined) throw new TypeError('one was asked for');
  await whitelist(gateway.url, { adminKey: gateway.adminKey, address: relayer.address });
  const webhookId = idOf(await admin('POST', '/webhooks', { url: receiver.url, events: ['request.succeeded'] }));
  const found: number[] = [];
  for (let n = 0; n < reports; n++) {
    const requestId = readRequestId(await send(createCall()));
    await send(updateCall(relayer, requestId, { status: 'processing' }));
    const report = updateCall(relayer, requestId, { status: 'success', txHash: `0x${'ab'.repeat(32)}` });
    const begin = performance.now();
    await send(report);
    while (!receiver.arrivals.has(requestId)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    found.push((receiver.arrivals.get(requestId) ?? begin) - begin);
  }
  await admin('DELETE', `/webhooks/${webhookId}`);
  return found.sort((a, b) => a - b);
}

/** Posts as fast as it goes until it is stopped. @returns posts a second */
async function measurePosts({ send }: World, isOver: (elapsedMs: number) => boolean): Promise<number> {
  const begin = performance.now();
  let posts = 0;
  const lane = async () => {
    while (!isOver(performance.now() - begin)) {
      await send(createCall());
      posts++;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (posts * 1000) / (performance.now() - begin);
}

/**
 * Gathers a backlog at a receiver that is down, and has it drained while others post, with a window without deliveries after each window
 * with them: so both see the same machine.
 */
async function measureDrain(world: World, { backlog, roundMs }: Scale): Promise<ResultRow[]> {
  const { send, admin, receiver } = world;
  const bare = await measurePosts(world, (elapsedMs) => elapsedMs >= roundMs);
  receiver.status = 503;
  const chainName = 'bench:backlog';
  const webhookId = idOf(
    await admin('POST', '/webhooks', { url: receiver.url, events: ['request.created'], chainName }),
  );
  const post = () => send({ ...createCall(), body: JSON.stringify(createBody({ chainName })) });
  for (let left = backlog; left > 0; left -= LANES)
    await Promise.all(Array.from({ length: Math.min(LANES, left) }, post));
  const enable = (enabled: boolean) => admin('PATCH', `/webhooks/${webhookId}`, { enabled });
  await enable(false);
  [receiver.count, receiver.status] = [0, 204];
  const [without, during]: [number[], number[]] = [[], []];
  const isWindowOver = (elapsedMs: number) => elapsedMs >= WINDOW_MS;
  let drainedMs = 0;
  while (receiver.count < backlog) {
    without.push(await measurePosts(world, isWindowOver));
    await enable(true);
    const begin = performance.now();
    during.push(await measurePosts(world, (elapsedMs) => isWindowOver(elapsedMs) || receiver.count >= backlog));
    drainedMs += performance.now() - begin;
    await enable(false);
  }
  await admin('DELETE', `/webhooks/${webhookId}`);
  return [
    { title: 'POST, no webhook', unit: 'requests/s', values: [bare] },
    {
      title: 'POST while a backlog is drained',
      unit: 'requests/s',
      values: during,
      baseline: { title: 'in windows between', values: without },
      target: { of: 'ratio', is: 'at least', bound: 0.9 },
    },
    { title: `${backlog} drained in`, unit: 's', values: [drainedMs / 1000] },
  ];
}

/** Measures how soon deliveries come, and what a backlog of them costs those who post. */
export async function runWebhooks({ quick }: Options): Promise<Report> {
  const scale = quick ? QUICK : FULL;
  const stack = new AsyncDisposableStack();
  try {
    const world = await startWorld(stack);
    const latency = await measureLatency(world, scale.reports);
    const at = (share: number) => latency[Math.floor(share * (latency.length - 1))] ?? Number.NaN;
    const about = `${scale.reports} reports one after another, on SQLite; then ${LANES} connections post as fast as they can, in windows of ${WINDOW_MS} ms`;
    return {
      about: [about],
      rows: [
        {
          title: 'report to delivery, p50',
          unit: 'ms',
          values: [at(0.5)],
          target: { of: 'value', is: 'at most', bound: 50 },
        },
        { title: 'report to delivery, p95', unit: 'ms', values: [at(0.95)] },
        ...(await measureDrain(world, scale)),
      ],
    };
  } finally {
    await stack.disposeAsync();
  }
}
