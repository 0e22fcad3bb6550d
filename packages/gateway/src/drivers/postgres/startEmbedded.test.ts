import { once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
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
  const around = await mkdtemp(join(tmpdir(), 'prism-port-'));
  await chmod(around, 0o711);
  // Neither it nor the folder of the data is there yet.
  const folder = join(around, 'data', 'postgres');
  await expect(startEmbedded({ folder, port })).rejects.toThrow(/did not start: FATAL: .*TCP\/IP/);
});
