import { Agent, type RequestOptions, request } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** How an honest client was served. */
export interface Honest {
  readonly calls: number;
  /** Calls that got no answer, or one of 500 and above, also when they were tried again. */
  readonly failures: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

interface HonestPlan {
  readonly url: string;
  /** An address of this machine that its calls come from; absent: the system chooses. */
  readonly localAddress?: string;
  /** Milliseconds between two calls. */
  readonly everyMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How long a call may take, in milliseconds. */
const CALL_TIMEOUT_MS = 20_000;
/** Tries of a call: who loses a connection that had been idle asks again, as every client does. */
const TRIES = 2;
const FIRST_SERVER_ERROR = 500;

function callOnce(url: URL, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestTls : request;
    const outgoing = send(url, { ...options, timeout: CALL_TIMEOUT_MS }, (incoming) => {
      incoming.resume().once('end', () => resolve(incoming.statusCode ?? 0));
      incoming.once('error', reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('It took too long.')));
    outgoing.once('error', reject).end();
  });
}

async function call(url: URL, options: RequestOptions): Promise<boolean> {
  for (let i = 0; i < TRIES; i++) {
    const status = await callOnce(url, options).catch(() => 0);
    if (status > 0 && status < FIRST_SERVER_ERROR) return true;
  }
  return false;
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Sums up times of calls. @param times - milliseconds each */
export function summarise(times: readonly number[], failures: number): Honest {
  const sorted = [...times].sort((a, b) => a - b);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(sorted, share));
  return { calls: times.length, failures, p50: p50 ?? 0, p99: p99 ?? 0, max: max ?? 0 };
}

/**
 * Reads as an honest client does, one call after another on a connection that is kept, until it is ended.
 *
 * @param plan - what to call, and how often
 * @returns how it was served
 */
export async function measureHonest({ url, localAddress, everyMs, signal }: HonestPlan): Promise<Honest> {
  // An id that nobody has: it is looked up like any other.
  const target = new URL('/requests/00000000-0000-7000-8000-000000000000', url);
  const agentOptions = { keepAlive: true, maxSockets: 1, ...(localAddress !== undefined && { localAddress }) };
  const agent = target.protocol === 'https:' ? new TlsAgent(agentOptions) : new Agent(agentOptions);
  const times: number[] = [];
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (!(await call(target, { agent }))) failures += 1;
    times.push(performance.now() - startedAt);
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  agent.destroy();
  return summarise(times, failures);
}
