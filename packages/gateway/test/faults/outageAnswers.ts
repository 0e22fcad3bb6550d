import { setTimeout as pause } from 'node:timers/promises';
import type { Answered, GatewayCall } from '../rigs/gatewayClient.ts';
import type { Door } from './door.ts';

/** Longest that an answer may take, in milliseconds. */
export const TIMEOUT_MS = 25_000;
/** Tries of one call before a client is taken to have been shut out. */
const MAX_TRIES = 100;

/** The fault in an outage's answer; undefined: it is 503, says when to come back, and has the error's shape. */
export function findOutageFault({ status, headers, text }: Answered): string | undefined {
  if (status !== 503) return `it is ${status}, not 503`;
  if (!/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) return 'it has no Retry-After';
  if (headers['access-control-allow-origin'] !== '*') return 'it has no CORS headers';
  return /^\{"error":"[^"]+","code":"[A-Z_]+"\}$/.test(text) ? undefined : 'its body is not { error, code }';
}

/** Makes a call again while it is answered 503, after as long as `Retry-After` says. */
export async function insist(door: Door, call: GatewayCall): Promise<Answered> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const answer = await door.send(call);
    if (answer.status !== 503) return answer;
    // No wait for something to happen: the client does what it was asked to.
    await pause(Number(answer.headers['retry-after'] ?? 1) * 1000);
  }
  throw new Error(`${call.method} ${call.path} was answered 503 ${MAX_TRIES} times`);
}
