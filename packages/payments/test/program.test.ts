import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChatReceiver, startFetchServer, startMailServer, startRpcFaultProxy } from '@prism-gateway/testing';
import { encryptKey } from '@prism-gateway/testing/keys';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { createWalletClient, http, numberToHex, parseGwei, zeroAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, onTestFinished, test } from 'vitest';
import { startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';

const PASSWORD = 'only for this test';

const program = fileURLToPath(new URL('../src/entry/payments.ts', import.meta.url));

function start(env: Record<string, string>): { readonly child: ChildProcess; readonly output: () => string } {
  let output = '';
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (output += part));
  return { child, output: () => output };
}

test('the program: a key in a keystore, metrics, a heartbeat, a clean stop, no secret told', async () => {
  await using rig = await startPaymentsRig();
  let beats = 0;
  const watchdog = await startFetchServer(async () => {
    beats++;
    return new Response(null, { status: 500 });
  });
  onTestFinished(watchdog.close);
  const key = await rig.fundKey();
  const keystore = join(rig.dir, 'key.json');
  await writeFile(keystore, encryptKey(key.privateKey, PASSWORD));
  const { RELAYER_PRIVATE_KEY: _, ...settings } = rig.settingsFor(key);
  const { child, output } = start({
    ...settings,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: PASSWORD,
    METRICS_PORT: '0',
    HEARTBEAT_URL: `${watchdog.url}/ping/a-secret-of-the-path`,
  });
  rig.addPayment(1_000_000n);
  await waitUntil(() => rig.frontend.store.list().every(({ txHash }) => txHash !== undefined) && beats > 0, {
    timeoutMs: TIMEOUT_MS,
    what: 'not completed, or no heartbeat',
  });
  const [, url = ''] = /"metrics":"([^"]+)"/.exec(output()) ?? [];
  const read = async (path: string) => await (await fetch(`${url}${path}`)).text();
  const metrics = async () => await read('/metrics');
  await waitUntil(async () => (await metrics()).includes('payments_by_state{state="completed"} 1'), {
    timeoutMs: TIMEOUT_MS,
    what: 'not counted',
  });
  const text = await metrics();
  expect(text).toMatch(/^payments_balance_ether (99\.\d+|100)$/m);
  expect(text).toMatch(/^payments_balance_stablecoins (999999|1000000)$/m);
  expect(text).toMatch(/^payments_listed_to_paid_seconds_count 1$/m);
  expect(text).toMatch(/^payments_rate_spread_bps 0$/m);
  expect(text).toMatch(/^payments_oldest_seconds\{state="seen"\} 0$/m);
  const [, polled = ''] = /^payments_polled_timestamp_seconds (\S+)$/m.exec(text) ?? [];
  expect(Math.abs(Number(polled) - Date.now() / 1000)).toBeLessThan(60);
  expect(await read('/health')).toBe('ok\n');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  for (const secret of [PASSWORD, key.privateKey.slice(2), rig.secret, 'a-secret-of-the-path'])
    expect(output()).not.toContain(secret);
});

/** Messages of one channel in an hour, critical ones not counted. */
const BUDGET = 10;

// Shows ALERT-2.
test('gas flaps, and more is refused than a channel takes in an hour: a critical alert is there within 5 s, by mail and by chat', async () => {
  await using rig = await startPaymentsRig();
  await using mail = await startMailServer();
  await using chat = await startChatReceiver();
  let prices = 0;
  await using node = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) =>
      method === 'eth_gasPrice'
        ? { kind: 'answer', result: numberToHex(parseGwei(++prices % 2 === 1 ? '150' : '1')) }
        : undefined,
  });
  const key = await rig.fundKey();
  const { output } = start({
    ...rig.settingsFor(key),
    RPC_URL: node.url,
    SMTP_URL: mail.url,
    NODE_EXTRA_CA_CERTS: mail.certificateFile,
    ALERT_EMAIL_FROM: 'payments@example.com',
    ALERT_EMAIL_TO: 'ops@example.com',
    ALERT_CHAT_WEBHOOK_URL: chat.url,
  });
  // More than the key has waits throughout, so that obstacles are looked for; and more than may be paid at once is held.
  for (const amount of [2_000_000_000_000n, 2_000_000_000n]) rig.addPayment(amount);
  let refused = 0;
  const isFull = () => {
    rig.frontend.store.add({
      paymentIntentId: `pi_bad_${refused++}`,
      walletAddress: zeroAddress,
      stablecoinAmount: '1',
    });
    return mail.mails.length >= BUDGET && chat.messages.length >= BUDGET;
  };
  await waitUntil(isFull, { timeoutMs: TIMEOUT_MS, what: 'the channels are not full' });
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  await wallet.sendTransaction({ to: zeroAddress, value: 1n, chain: null });
  const timesOf = (pattern: RegExp) => [...output().matchAll(pattern)].map(([, time]) => Number(time));
  const delivered = () => timesOf(/"time":(\d+),"channel":"(?:e-mail|chat)","code":"KEY_USED_ELSEWHERE"/g);
  await waitUntil(() => delivered().length === 2, { timeoutMs: TIMEOUT_MS, what: 'not delivered' });
  const [raised = 0] = timesOf(/"time":(\d+),"alert":"KEY_USED_ELSEWHERE","severity":"critical"/g);
  const waits = delivered().map((time) => time - raised);
  expect(Math.max(...waits), `${waits} ms after it was raised`).toBeLessThan(5000);
  const subject = 'the key is used elsewhere';
  expect(mail.mails.at(-1)?.raw).toContain(subject);
  expect(JSON.stringify(chat.messages.at(-1))).toContain(subject);
});
