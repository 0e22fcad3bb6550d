import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type PaymentsRig, type RigKey, waitUntil } from '@prism-gateway/payments/demo';
import { listenOnLoopback } from '@prism-gateway/testing';
import { startProgram } from '@prism-gateway/testing/world';

/** The payments to make, and how. */
export interface RelayerRunOptions {
  readonly rig: PaymentsRig;
  readonly key: RigKey;
  readonly count: number;
  readonly lanes: number;
  readonly pollIntervalMs: number;
  /** Milliseconds to count idle calls for; 0: not at all. */
  readonly idleMs: number;
  /** Interval of its polls meanwhile, in milliseconds. */
  readonly idlePollMs: number;
}

/** The result of a run. */
export interface RelayerRun {
  /** Milliseconds from the moment that the payments are listed to the last completion. */
  readonly elapsedMs: number;
  readonly rpcCalls: ReadonlyMap<string, number>;
  readonly frontendCalls: number;
  /** A minute. */
  readonly idle?: { readonly rpc: number; readonly http: number };
}

const AMOUNT = 1_000_000n;
const TIMEOUT_MS = 300_000;
const MINUTE_MS = 60_000;
/** Blocks until payouts are final, in which they are looked after. */
const REORG_DEPTH = 8;

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0);

/** Runs the real payment relayer, and counts what it asks. */
export async function payByRelayer(options: RelayerRunOptions): Promise<RelayerRun> {
  const { rig, key, count, lanes, pollIntervalMs, idleMs, idlePollMs } = options;
  const rpc = await startCallCounter(rig.rpcUrl);
  const frontend = await startCallCounter(rig.frontend.url);
  const settings = {
    ...rig.settingsFor(key),
    RPC_URL: rpc.url,
    FRONTEND_URL: frontend.url,
    RPC_POLL_INTERVAL_MS: `${pollIntervalMs}`,
    RPC_TIMEOUT_MS: '10000',
    BUMP_AFTER_MS: '60000',
    MAX_IN_FLIGHT: `${lanes}`,
    REORG_DEPTH: `${REORG_DEPTH}`,
    LOG_LEVEL: 'info',
  };
  const isDone = () => rig.frontend.store.list().every(({ txHash }) => txHash !== undefined);
  const waitForAll = () => waitUntil(isDone, { timeoutMs: TIMEOUT_MS, what: 'payments are not completed' });
  let program = await startProgram('payments', { env: { ...settings, POLL_INTERVAL_MS: '500' } });
  try {
    // The first one makes the approval.
    rig.addPayment(AMOUNT);
    await waitForAll();
    rpc.take();
    frontend.take();
    for (let number = 0; number < count; number++) rig.addPayment(AMOUNT);
    const beganAt = performance.now();
    await waitForAll();
    const elapsedMs = performance.now() - beganAt;
    const rpcCalls = rpc.take().rpc;
    const frontendCalls = frontend.take().http;
    if (idleMs === 0) return { elapsedMs, rpcCalls, frontendCalls };
    await program.stop();
    const start = await rig.client.getBlockNumber({ cacheTime: 0 });
    const isFinal = async () => (await rig.client.getBlockNumber({ cacheTime: 0 })) > start + BigInt(REORG_DEPTH + 2);
    await waitUntil(isFinal, { timeoutMs: TIMEOUT_MS, what: 'no blocks' });
    program = await startProgram('payments', { env: { ...settings, POLL_INTERVAL_MS: `${idlePollMs}` } });
    // Its second poll: what a start asks for is over, however long that takes.
    let polls = 0;
    const hasStarted = () => {
      polls += frontend.take().http;
      return polls >= 2;
    };
    await waitUntil(hasStarted, { timeoutMs: TIMEOUT_MS, what: 'it does not poll' });
    rpc.take();
    await pause(idleMs);
    const idle = { rpc: (sum(rpc.take().rpc) * MINUTE_MS) / idleMs, http: (frontend.take().http * MINUTE_MS) / idleMs };
    return { elapsedMs, rpcCalls, frontendCalls, idle };
  } finally {
    await program.stop();
    await Promise.all([rpc.close(), frontend.close()]);
  }
}

/** Passes calls on, and counts them. */
interface CallCounter {
  readonly url: string;
  /** HTTP calls since the last look; a batch of JSON-RPC counts each of its calls. */
  take(): { readonly http: number; readonly rpc: ReadonlyMap<string, number> };
  close(): Promise<void>;
}

/**
 * Starts a proxy on 127.0.0.1 that counts.
 *
 * @param upstream where calls go on to
 * @returns the running proxy
 */
async function startCallCounter(upstream: string): Promise<CallCounter> {
  let http = 0;
  let rpc = new Map<string, number>();
  const server = createServer((incoming, response) => {
    const pass = async () => {
      const body = await buffer(incoming);
      http++;
      for (const [, method = ''] of body.toString('utf8').matchAll(/"method":"(\w+)"/g))
        rpc.set(method, (rpc.get(method) ?? 0) + 1);
      const url = new URL(incoming.url ?? '/', upstream);
      const outgoing = request(url, { method: incoming.method, headers: { ...incoming.headers, host: url.host } });
      outgoing.once('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.once('error', () => response.destroy());
      outgoing.end(body);
    };
    pass().catch(() => response.destroy());
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    take() {
      const counted = { http, rpc };
      http = 0;
      rpc = new Map();
      return counted;
    },
    close,
  };
}
