import { setTimeout as pause } from 'node:timers/promises';
import type { GatewayCall } from '../rigs/gatewayClient.ts';
import type { Door, DoorAnswer } from './door.ts';

/** Longest that an answer may take, in milliseconds. */
export const PATIENCE_MS = 25_000;
/** Tries of one call before a client is taken to have been shut out. */
const MAX_TRIES = 100;

/** Sees every answer that any client gets, and holds it to what a gateway may say while others fail. */
export interface Witness {
  /** Makes one call. @throws Error when no whole answer came: a gateway has no right to that */
  ask(door: Door, call: GatewayCall): Promise<DoorAnswer>;
  /** Makes a call again while it is answered 503, after as long as `Retry-After` says. */
  insist(door: Door, call: GatewayCall): Promise<Insisted>;
  /** Answers by status. */
  readonly countByStatus: Readonly<Record<number, number>>;
  /** Outages seen, by whose they were. */
  readonly outages: { store: number; others: number };
  /** Answers that nothing excuses. */
  readonly strange: string[];
  /** How long the slowest answer took, in milliseconds. */
  slowestMs(): number;
}

/** What a client knows after it has insisted. */
export interface Insisted extends DoorAnswer {
  /** Some try before was answered 503: it may have been done, or not. */
  readonly wasUnknown: boolean;
}

/** Statuses that the calls of these tests may be answered with. */
const EXPECTED = new Set([200, 201, 401, 409, 503]);

/** What is wrong with an outage's answer; undefined: it is 503, says when to come back, and is in the error's shape. */
export function findOutageFault({ status, headers, text }: DoorAnswer): string | undefined {
  if (status !== 503) return `it is ${status}, not 503`;
  if (!/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) return 'it has no Retry-After';
  if (headers['access-control-allow-origin'] !== '*') return 'it has no CORS headers';
  return /^\{"error":"[^"]+"\}$/.test(text) ? undefined : 'its body is not { error }';
}

function findFault(answer: DoorAnswer, ms: number): string | undefined {
  if (ms > PATIENCE_MS) return `it took ${Math.round(ms)} ms`;
  if (answer.status >= 500) return findOutageFault(answer);
  return EXPECTED.has(answer.status) ? undefined : `it is ${answer.status}`;
}

/** Makes a witness who has seen nothing yet. */
export function createWitness(): Witness {
  const countByStatus: Record<number, number> = {};
  const outages = { store: 0, others: 0 };
  const strange: string[] = [];
  let slowestMs = 0;

  async function ask(door: Door, call: GatewayCall): Promise<DoorAnswer> {
    const startedAt = performance.now();
    const answer = await door.send(call);
    const ms = performance.now() - startedAt;
    slowestMs = Math.max(slowestMs, ms);
    countByStatus[answer.status] = (countByStatus[answer.status] ?? 0) + 1;
    if (answer.status === 503) outages[answer.text.includes('The store ') ? 'store' : 'others']++;
    const fault = findFault(answer, ms);
    if (fault !== undefined) strange.push(`${call.method} ${call.path}: ${fault}: ${answer.text}`);
    return answer;
  }

  return {
    ask,
    async insist(door, call) {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const answer = await ask(door, call);
        if (answer.status !== 503) return { ...answer, wasUnknown: tries > 1 };
        // No wait for something to happen: the client does what it was told.
        await pause(Number(answer.headers['retry-after'] ?? 1) * 1000);
      }
      throw new Error(`${call.method} ${call.path} was answered 503 ${MAX_TRIES} times`);
    },
    countByStatus,
    outages,
    strange,
    slowestMs: () => slowestMs,
  };
}
