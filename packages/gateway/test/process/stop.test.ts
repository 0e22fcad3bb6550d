import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';

/** The thing that kept the gateway from stopping would do so for 29 seconds; then it closes all connections. */
const HELD_UP_MS = 25_000;
const BODY = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);

/** A request of which half the body is sent. */
interface SlowRequest {
  readonly socket: Socket;
  /** Sends the other half. @returns all that the server said */
  finish(): Promise<string>;
}

async function startSlowRequest({ url }: RunningGateway): Promise<SlowRequest> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  const half = BODY.length / 2;
  const head = `POST /requests HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`;
  socket.write(head);
  // The server asks for the body: from now on the request is under way.
  await once(socket, 'data');
  socket.write(BODY.slice(0, half));
  return {
    socket,
    async finish() {
      const said = text(socket);
      socket.write(BODY.slice(half));
      return await said;
    },
  };
}

/** Waits until the gateway has logged that it stops. */
async function untilStopping({ process, output }: RunningGateway): Promise<void> {
  if (process.stdout === null) throw new Error('The rig reads what the gateway prints.');
  while (!output.some((line) => line.includes('"msg":"stopping"'))) await once(process.stdout, 'data');
}

async function isRefused({ url }: RunningGateway): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on('connect', () => resolve(false));
  socket.on('error', () => resolve(true));
  const refused = await promise;
  socket.destroy();
  return refused;
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: what is under way is answered, nothing new is taken, exit 0',
  async (signal) => {
    const gateway = await startGateway();
    const slow = await startSlowRequest(gateway);
    const closed = once(gateway.process, 'close');
    gateway.process.kill(signal);
    await untilStopping(gateway);
    expect(await isRefused(gateway)).toBe(true);

    const said = await slow.finish();
    expect(said).toMatch(/^HTTP\/1\.1 201 /);
    expect(said).toContain('"status":"pending"');
    expect(await closed).toEqual([0, null]);

    const requestId = /"requestId":"([^"]+)"/.exec(said)?.[1];
    const again = await startGateway({ dataDir: gateway.dataDir });
    expect((await fetch(`${again.url}/requests/${requestId}`)).status).toBe(200);
    await again.stop();
  },
);

test('clients that keep their connections busy do not keep it from stopping', async () => {
  const gateway = await startGateway();
  const stopped = Promise.withResolvers<void>();
  const failures: string[] = [];
  async function callOnAndOn(): Promise<void> {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.on('data', (said) => {
      if (!said.toString('latin1').startsWith('HTTP/1.1 200')) failures.push(said.toString());
      socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    });
    socket.on('error', () => undefined);
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.on('close', () => stopped.resolve());
  }
  await Promise.all(Array.from({ length: 8 }, callOnAndOn));
  const signalledAt = performance.now();
  expect(await gateway.stop()).toBe(0);
  expect(performance.now() - signalledAt).toBeLessThan(HELD_UP_MS);
  await stopped.promise;
  expect(failures).toEqual([]);
});

test('connections on which nothing was ever asked do not keep it from stopping', async () => {
  const gateway = await startGateway();
  const sockets = Array.from({ length: 3 }, () => connect(Number(new URL(gateway.url).port), '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // Reset or closed: both are an end.
  const ends = sockets.map(
    (socket) => new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve)),
  );
  const signalledAt = performance.now();
  expect(await gateway.stop()).toBe(0);
  expect(performance.now() - signalledAt).toBeLessThan(HELD_UP_MS);
  for (const socket of sockets) socket.resume();
  await Promise.all(ends);
});

// Shows OPERATE-2.
test('a second signal half a second later ends it at once', async () => {
  const gateway = await startGateway();
  const slow = await startSlowRequest(gateway);
  slow.socket.on('error', () => undefined);
  const closed = once(gateway.process, 'close');
  const firstAt = performance.now();
  gateway.process.kill('SIGINT');
  await untilStopping(gateway);
  // npm passes a terminal's Ctrl-C on: the same signal twice.
  gateway.process.kill('SIGINT');
  // The time itself is what is tested: the process knows no other sign of it.
  const again = setInterval(() => performance.now() - firstAt > 600 && gateway.process.kill('SIGINT'), 50);
  const [code] = await closed;
  clearInterval(again);
  expect(code).toBe(130);
  const took = performance.now() - firstAt;
  expect(took).toBeGreaterThan(500);
  expect(took).toBeLessThan(HELD_UP_MS);
  slow.socket.destroy();
});
