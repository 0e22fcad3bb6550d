import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from './startEmbedded.ts';

test('a port that another program holds, which never says a word, ends the start', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), 'prism-port-'));
  await expect(startEmbedded({ folder, port })).rejects.toThrow(/did not start: FATAL: .*TCP\/IP/);
});
