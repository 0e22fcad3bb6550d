/**
 * `npm run bench -- webhooks [--quick]`: how soon deliveries come, and what a backlog of them costs those who post.
 * `npm run bench -- webhooks dynamodb [--quick]`: how soon they come with a server on DynamoDB, which learns of moves from the table's stream.
 */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { startDynamo, startGateway } from '@prism-gateway/testing';
import { keccak256, toBytes } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { formatTable } from '../report/formatTable.ts';
import { median } from '../report/median.ts';
import { writeRequestBody } from './writePlainBody.ts';

const isQuick = process.argv.includes('--quick');
const isDynamo = process.argv.includes('dynamodb');
const REPORTS = isQuick ? 20 : 200;
const BACKLOG = isQuick ? 500 : 10_000;
const ROUND_MS = isQuick ? 1000 : 5000;
const WINDOW_MS = 1000;
const LANES = 16;
const TARGET = { latencyMs: 50, ratio: 0.9 };

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

const engine = isDynamo ? await startDynamo() : undefined;
const store: Record<string, string> =
  engine === undefined ? {} : { STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
const gateway = await startGateway({ env: { WEBHOOKS_ALLOW_PRIVATE: 'true', ...store } });
const agent = new Agent({ keepAlive: true, maxSockets: LANES });
const relayer = privateKeyToAccount(generatePrivateKey());

function call(method: string, path: string, options: { json?: unknown; headers?: Record<string, string> } = {}) {
  const body = options.json === undefined ? '' : JSON.stringify(options.json);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...options.headers };
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request(`${gateway.url}${path}`, { method, agent, headers }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      resolve({ status: incoming.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    outgoing.on('error', reject).end(body);
  });
}

async function expectStatus(status: number, calling: Promise<Answer>): Promise<Answer['json']> {
  const answer = await calling;
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
}

const admin = (method: string, path: string, json?: unknown) =>
  call(method, `/admin${path}`, { headers: { 'x-admin-key': gateway.adminKey }, ...(json !== undefined && { json }) });
const post = (chainName: string) => expectStatus(201, call('POST', '/requests', { json: writeRequestBody(chainName) }));

/** Signs beforehand, so that only the call is timed. */
async function signUpdate(path: string, json: unknown) {
  const timestamp = String(Date.now());
  const bodyHash = keccak256(toBytes(JSON.stringify(json)));
  const message = createRelayerAuthMessage({ timestamp, method: 'PATCH', path, bodyHash });
  const signature = await relayer.signMessage({ message });
  const headers = {
    'x-relayer-address': relayer.address,
    'x-relayer-timestamp': timestamp,
    'x-relayer-signature': signature,
  };
  return () => expectStatus(200, call('PATCH', path, { json, headers }));
}

/** A receiver: what came when, and what it answers. */
const receiver = { status: 204, arrivals: new Map<string, number>(), count: 0 };
const server = createServer(async (incoming, outgoing) => {
  const at = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  outgoing.writeHead(receiver.status).end();
  if (receiver.status !== 204) return;
  receiver.count++;
  const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { requestId: string } };
  receiver.arrivals.set(data.requestId, at);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

async function waitFor(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** From the call that reports to the arrival at the receiver, one after another. @returns milliseconds, sorted */
async function measureLatency(): Promise<readonly number[]> {
  await expectStatus(201, admin('POST', '/relayers', { address: relayer.address }));
  const { webhookId } = await expectStatus(201, admin('POST', '/webhooks', { url, events: ['request.succeeded'] }));
  const found: number[] = [];
  for (let n = 0; n < REPORTS; n++) {
    const { requestId } = await post('eip155:1');
    const path = `/requests/${requestId}`;
    await (await signUpdate(path, { status: 'processing' }))();
    const report = await signUpdate(path, { status: 'success', txHash: `0x${'ab'.repeat(32)}` });
    const begin = performance.now();
    await report();
    await waitFor(() => receiver.arrivals.has(String(requestId)));
    found.push((receiver.arrivals.get(String(requestId)) ?? begin) - begin);
  }
  await expectStatus(200, admin('DELETE', `/webhooks/${webhookId}`));
  return found.sort((a, b) => a - b);
}

/** Posts as fast as it goes until told to stop. @returns posts a second */
async function measurePosts(isOver: (elapsedMs: number) => boolean): Promise<number> {
  const begin = performance.now();
  let posts = 0;
  const lane = async () => {
    while (!isOver(performance.now() - begin)) {
      await post('load');
      posts++;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (posts * 1000) / (performance.now() - begin);
}

const forRound = (elapsedMs: number) => elapsedMs >= ROUND_MS;
const forWindow = (elapsedMs: number) => elapsedMs >= WINDOW_MS;

/**
 * Gathers a backlog at a receiver that is down, and has it drained while others post, with a window without deliveries after each window
 * with them: so both see the same machine.
 */
async function measureDrain() {
  receiver.status = 503;
  const wanted = { url, events: ['request.created'], chainName: 'backlog' };
  const { webhookId } = await expectStatus(201, admin('POST', '/webhooks', wanted));
  for (let left = BACKLOG; left > 0; left -= LANES)
    await Promise.all(Array.from({ length: Math.min(LANES, left) }, () => post('backlog')));
  const enable = (enabled: boolean) => expectStatus(200, admin('PATCH', `/webhooks/${webhookId}`, { enabled }));
  await enable(false);
  receiver.count = 0;
  receiver.status = 204;
  const pairs: { readonly without: number; readonly during: number }[] = [];
  let drainedMs = 0;
  while (receiver.count < BACKLOG) {
    const without = await measurePosts(forWindow);
    await enable(true);
    const begin = performance.now();
    const during = await measurePosts((elapsedMs) => forWindow(elapsedMs) || receiver.count >= BACKLOG);
    drainedMs += performance.now() - begin;
    await enable(false);
    pairs.push({ without, during });
  }
  await expectStatus(200, admin('DELETE', `/webhooks/${webhookId}`));
  const ratio = median(pairs.map((pair) => pair.during / pair.without));
  const medianOf = (kind: 'without' | 'during') => median(pairs.map((pair) => pair[kind]));
  return { without: medianOf('without'), during: medianOf('during'), ratio, windows: pairs.length, drainedMs };
}

const verdict = (isKept: boolean) => (isKept ? 'kept' : 'MISSED');

/** Measures from report to delivery. @returns the rows of the table, and whether the target is kept */
async function judgeLatency() {
  console.error('from report to delivery …');
  const latency = await measureLatency();
  const at = (share: number) => latency[Math.floor(share * (latency.length - 1))] ?? Number.NaN;
  const isKept = at(0.5) <= TARGET.latencyMs;
  const rows = [
    ['report to delivery, p50', `${at(0.5).toFixed(1)} ms`, `≤ ${TARGET.latencyMs} ms: ${verdict(isKept)}`],
    ['report to delivery, p95', `${at(0.95).toFixed(1)} ms`, ''],
  ];
  return { rows, isKept };
}

/** Measures what a backlog costs those who post. @returns the rows of the table, and whether the target is kept */
async function judgeDrain(bare: number) {
  console.error(`a backlog of ${BACKLOG} …`);
  const { without, during, ratio, windows, drainedMs } = await measureDrain();
  const isKept = ratio >= TARGET.ratio;
  const rows = [
    ['POST, no webhook', `${bare.toFixed(0)}/s`, ''],
    ['POST between windows of the drain', `${without.toFixed(0)}/s`, ''],
    ['POST during it', `${during.toFixed(0)}/s`, `≥ ${TARGET.ratio} ×: ${ratio.toFixed(2)}, ${verdict(isKept)}`],
    [`${BACKLOG} drained in`, `${(drainedMs / 1000).toFixed(1)} s`, ''],
  ];
  const text = `; then ${BACKLOG} deliveries drained while ${LANES} connections post as fast as they can, in
${windows} windows of ${WINDOW_MS} ms, each after one without deliveries (the ratio is the median of pairs)`;
  return { rows, isKept, text };
}

try {
  const bare = isDynamo ? 0 : await measurePosts(forRound);
  const latency = await judgeLatency();
  const drain = isDynamo ? { rows: [], isKept: true, text: '' } : await judgeDrain(bare);
  const machine = `gateway with ${engine?.engine ?? 'SQLite'}, load and receiver on ${availableParallelism()} cores, Node ${process.versions.node}`;
  console.log(
    [
      `${REPORTS} reports one after another${drain.text}; ${machine}.`,
      '',
      ...formatTable([['measure', 'figure', 'target'], ...latency.rows, ...drain.rows]),
    ].join('\n'),
  );
  process.exitCode = isQuick || (latency.isKept && drain.isKept) ? 0 : 1;
} finally {
  agent.destroy();
  server.closeAllConnections();
  server.close();
  await gateway.stop();
  await engine?.close();
}
