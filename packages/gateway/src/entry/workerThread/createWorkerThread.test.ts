import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { RESULT_BYTES, writeJobs } from '../../drivers/secp256k1/runRecovery.ts';
import { createWorkerThread, type OwnedWorkerThread } from './createWorkerThread.ts';

/** Bounds a hang, not the work: a thread starts late on a busy machine. */
const PATIENCE = { timeout: 30_000 };

let thread: OwnedWorkerThread;
afterEach(() => thread.close());

const job = () => ({ digest: randomBytes(32), signature: new Uint8Array(64).fill(1), recovery: 0 });

/** Connects to the recovery, whose answers are easily told. */
function connect(service = 'secp256k1-recovery') {
  const caller = { onReply: vi.fn<(reply: Uint8Array) => void>(), onGone: vi.fn<(cause: Error) => void>() };
  return { ...caller, connection: thread.connect<Uint8Array, Uint8Array>(service, undefined, caller) };
}

test('answers each caller on its own connection', async () => {
  thread = createWorkerThread();
  const callers = [connect(), connect()];
  for (const [place, { connection }] of callers.entries()) {
    connection.send(writeJobs(Array.from({ length: place + 1 }, job)));
  }
  await vi.waitFor(() => {
    expect(callers.map(({ onReply }) => onReply.mock.calls.map(([reply]) => reply.length))).toEqual([
      [RESULT_BYTES],
      [2 * RESULT_BYTES],
    ]);
  }, PATIENCE);
});

test('tells every caller once when the thread dies, and why, and starts another for the next one', async () => {
  thread = createWorkerThread();
  const good = connect();
  const bad = connect('no-such-service');
  await good.connection.closed;
  await vi.waitFor(() => expect(good.onGone).toHaveBeenCalledOnce(), PATIENCE);
  expect(bad.onGone).toHaveBeenCalledExactlyOnceWith(new Error('There is no service no-such-service.'));
  const next = connect();
  next.connection.send(writeJobs([job()]));
  await vi.waitFor(() => expect(next.onReply).toHaveBeenCalledOnce(), PATIENCE);
  expect(next.onGone).not.toHaveBeenCalled();
  expect(good.onGone).toHaveBeenCalledOnce();
});

test('gives up what still runs when it is closed, and closes twice', async () => {
  thread = createWorkerThread();
  const { connection, onGone } = connect();
  await thread.close();
  await thread.close();
  await connection.closed;
  expect(onGone).toHaveBeenCalledOnce();
});
