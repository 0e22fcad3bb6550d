import { once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startEmbedded } from './startEmbedded.ts';

/** Takes a port, on which it never says a word. */
async function takePort(): Promise<AddressInfo> {
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  return silent.address() as AddressInfo;
}

/** A folder of the data that is not there yet, nor is the one around it. */
async function nameFolder(): Promise<string> {
  const around = await mkdtemp(join(tmpdir(), 'prism-port-'));
  await chmod(around, 0o711);
  return join(around, 'data', 'postgres');
}

test('a port that another program holds, which never says a word, ends the start', async () => {
  const { port } = await takePort();
  await expect(startEmbedded({ folder: await nameFolder(), port })).rejects.toThrow(/did not start: FATAL: .*TCP\/IP/);
});

test('a port that another program takes in the moment between is given up for another one', async () => {
  const taken = await takePort();
  const address = vi.spyOn(Server.prototype, 'address').mockReturnValueOnce(taken);
  onTestFinished(() => address.mockRestore());
  const server = await startEmbedded({ folder: await nameFolder(), isTemporary: true });
  expect(server.port).not.toBe(taken.port);
  await server.stop();
});
