import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listenOnLoopback } from '@prism-gateway/testing';
import { encryptKey } from '@prism-gateway/testing/keys';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { expect, onTestFinished, test } from 'vitest';
import { startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';

const PASSWORD = 'only for this test';

const program = fileURLToPath(new URL('../src/entry/payments.ts', import.meta.url));

/** Takes what is pushed; its first answer is a 500. */
async function startPushgateway() {
  const pushed: { readonly call: string; readonly text: string }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      pushed.push({ call: `${request.method} ${request.url}`, text });
      response.writeHead(pushed.length === 1 ? 500 : 202).end();
    });
  });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { url, pushed };
}

function start(env: Record<string, string>): { readonly child: ChildProcess; readonly output: () => string } {
  let output = '';
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (output += part));
  return { child, output: () => output };
}

test('the program: a key in a keystore, metrics in a file and pushed, a clean stop, no secret told', async () => {
  await using rig = await startPaymentsRig();
  const gateway = await startPushgateway();
  const key = await rig.fundKey();
  const keystore = join(rig.dir, 'key.json');
  await writeFile(keystore, encryptKey(key.privateKey, PASSWORD));
  const { RELAYER_PRIVATE_KEY: _, ...settings } = rig.settingsFor(key);
  const metricsFile = join(rig.dir, 'payments.prom');
  const { child, output } = start({
    ...settings,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: PASSWORD,
    METRICS_FILE: metricsFile,
    METRICS_PUSH_URL: `${gateway.url}/metrics/job/payments`,
  });
  rig.addPayment(1_000_000n);
  await waitUntil(() => rig.frontend.store.list().every(({ txHash }) => txHash !== undefined), {
    timeoutMs: PATIENCE_MS,
    what: 'not completed',
  });
  const counted = 'payments_by_state{state="completed"} 1';
  await waitUntil(() => gateway.pushed.some(({ text }) => text.includes(counted)), {
    timeoutMs: PATIENCE_MS,
    what: 'not pushed',
  });
  expect(gateway.pushed[0]?.call).toBe('PUT /metrics/job/payments');
  await waitUntil(async () => (await readFile(metricsFile, 'utf8')).includes(counted), {
    timeoutMs: PATIENCE_MS,
    what: 'not written',
  });
  const metrics = await readFile(metricsFile, 'utf8');
  expect(metrics).toMatch(/^payments_balance_ether (99\.\d+|100)$/m);
  expect(metrics).toMatch(/^payments_balance_stablecoins (999999|1000000)$/m);
  expect(metrics).toMatch(/^payments_listed_to_paid_seconds_count 1$/m);
  expect(metrics).toMatch(/^payments_rate_spread_bps 0$/m);
  expect(metrics).toMatch(/^payments_oldest_seconds\{state="seen"\} 0$/m);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  // The 500 was no reason to stop, and is told.
  expect(output()).toContain('metrics not published');
  for (const secret of [PASSWORD, key.privateKey.slice(2), rig.secret]) expect(output()).not.toContain(secret);
});
