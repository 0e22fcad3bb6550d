import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { createLogRecorder, startChatReceiver } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { expect, test, vi } from 'vitest';
import { startWatchtower } from '../src/watchtower/startWatchtower.ts';
import { parseWatchSettings } from '../src/watchtower/watchSettings.ts';
import { readHealth } from './rig.ts';

const WAIT = { timeout: TIMEOUT_MS, interval: 100 };

// Shows RELAY-23, WATCH-6.
test('a folder that is moved away shows at once, and that it is back', async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ users: 0, relayers: 2 }));
  const chat = stack.adopt(await startChatReceiver(), (receiver) => receiver.close());
  const relayer = stack.adopt(
    await startProgram('relayer', { env: { ...world.relayerEnv(0), POLL_MAX_MS: '300' } }),
    async (running) => void (await running.stop()),
  );
  const watchDir = join(world.dir, 'watchtower');
  const settings = parseWatchSettings({
    ...world.relayerEnv(1),
    ...{ DATA_DIR: watchDir, POLL_MS: '50', METRICS_PORT: '0' },
    ...{ ALERT_CHAT_WEBHOOK_URL: chat.url, ALERT_CHAT_FORM: 'slack' },
  });
  const watchtower = stack.adopt(
    await startWatchtower({ settings, log: createLogRecorder(), now: Date.now }),
    (running) => running.stop(),
  );
  const relayerDir = world.relayerEnv(0).DATA_DIR ?? '';
  const expectHealth = async (health: { relayer: unknown; watchtower: unknown }) => {
    await vi.waitFor(async () => expect(await readHealth(relayer)).toEqual(health.relayer), WAIT);
    await vi.waitFor(async () => expect(await readHealth(watchtower)).toEqual(health.watchtower), WAIT);
  };
  await expectHealth({ relayer: 'ok\n', watchtower: 'ok\n' });

  for (const dir of [relayerDir, watchDir]) renameSync(dir, `${dir}-away`);
  const fault = expect.stringMatching(/cannot write its journal since .*\.db is not the file/);
  await expectHealth({ relayer: fault, watchtower: fault });
  expect(await relayer.readMetric('prism_relayer_faults_total', 'where="journal"')).toBeGreaterThan(0);
  await chat.waitForMessages(1);
  expect(JSON.stringify(chat.messages[0])).toContain('the journal cannot be written');

  for (const dir of [relayerDir, watchDir]) renameSync(`${dir}-away`, dir);
  await expectHealth({ relayer: 'ok\n', watchtower: 'ok\n' });
  await chat.waitForMessages(2);
  expect(JSON.stringify(chat.messages[1])).toContain('can be written again');
});
