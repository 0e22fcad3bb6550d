import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type PaymentsRig, startPaymentsRig } from '@prism-gateway/payments/demo';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { signWrite, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool } from './rigs/findTool.ts';
import { findMissingMetrics, listAlerts, listAskedMetrics, listExpressions } from './rigs/readMetricNames.ts';
import { startPrometheus } from './rigs/startPrometheus.ts';

const run = promisify(execFile);
const promtool = findTool('promtool', 'prometheus');
const prometheus = findTool('prometheus', 'prometheus');
const cwd = fileURLToPath(new URL('../prometheus', import.meta.url));

interface Targets {
  readonly activeTargets: readonly {
    readonly labels: { readonly job: string };
    readonly health: string;
    readonly lastError: string;
  }[];
}
interface RuleGroups {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
  }[];
}

describe.skipIf(promtool === undefined)("Prometheus' own check", () => {
  test('the configuration and the rules are well formed', async () => {
    await expect(run(promtool as string, ['check', 'config', 'prometheus.yml'], { cwd })).resolves.toBeDefined();
    await expect(run(promtool as string, ['check', 'rules', 'alerts.yml'], { cwd })).resolves.toBeDefined();
  });

  test('each alert wakes somebody when it must, and not when it must not', async () => {
    const { stdout } = await run(promtool as string, ['test', 'rules', 'alerts.test.yml'], { cwd });
    expect(stdout).toContain('SUCCESS');
  });
});

test('each rule has its runbook, and the documents count them', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(sections.toSorted()).toEqual(listAlerts().toSorted());
  const urls = [...read('deploy/prometheus/alerts.yml').matchAll(/runbook_url: \S+\/docs\/runbooks\.md#(\w+)/g)];
  expect(urls.map(([, name]) => name)).toEqual(listAlerts().map((name) => name.toLowerCase()));
  expect(read('docs/deploy.md')).toContain(`has ${listAlerts().length} rules`);
});

describe("Alertmanager's own check", () => {
  const amtool = findTool('amtool', 'prometheus-alertmanager');
  const start = fileURLToPath(new URL('../alertmanager/start', import.meta.url));
  const mail = {
    SMTP_URL: 'smtps://us%40er:p%27w@mail.example',
    ALERT_EMAIL_FROM: 'a@b.example',
    ALERT_EMAIL_TO: 'c@d.example',
  };

  test.skipIf(amtool === undefined).each([
    [mail, ["smarthost: 'mail.example:465'", "auth_username: 'us@er'", "auth_password: 'p''w'"]],
    [{ ALERT_CHAT_WEBHOOK_URL: 'https://hooks.slack.com/services/x' }, ['slack_configs', 'runbook_url']],
    [{ ALERT_CHAT_WEBHOOK_URL: 'https://discord.com/api/webhooks/1/x' }, ['discord_configs']],
    [
      { ALERT_CHAT_WEBHOOK_URL: 'https://api.telegram.org/bot12:ab/sendMessage', ALERT_CHAT_ID: '-5' },
      ["bot_token: '12:ab'"],
    ],
    [{ ...mail, WATCHDOG_URL: 'https://hc.example/1' }, ["url: 'https://hc.example/1'", 'receiver: watchdog']],
  ])('%j makes a configuration that it takes', async (env, words) => {
    const { stdout } = await run(start, ['--print'], { env: { PATH: process.env.PATH, ...env } });
    for (const word of words) expect(stdout).toContain(word);
    const dir = mkdtempSync(join(tmpdir(), 'alertmanager-'));
    writeFileSync(join(dir, 'alertmanager.yml'), stdout);
    await expect(run(amtool as string, ['check-config', join(dir, 'alertmanager.yml')])).resolves.toBeDefined();
    rmSync(dir, { recursive: true });
  });

  test('it does not start if nobody would be alerted', async () => {
    await expect(run(start, [], { env: { PATH: process.env.PATH } })).rejects.toThrow(/Nobody would be told/);
  });
});

test('a metric that nobody emits, and a value that no label has, are found', () => {
  const asked = [
    { name: 'prism_a', labels: {} },
    { name: 'prism_b', labels: { kind: 'x' } },
    { name: 'prism_b', labels: { kind: 'y' } },
    { name: 'prism', labels: {} },
    { name: 'prism_a', labels: { chain: '' } },
    { name: 'prism_b', labels: { chain: '' } },
  ];
  expect(findMissingMetrics(asked, ['# HELP prism a\nprism_a 1\n', 'prism_b{chain="c",kind="x"} 0\n'])).toEqual([
    'prism_b{"chain":""}',
    'prism_b{"kind":"y"}',
    'prism{}',
  ]);
});

describe('programs at work', () => {
  let world: World;
  let rig: PaymentsRig;
  const running = new AsyncDisposableStack();
  const urls: string[] = [];

  beforeAll(async () => {
    world = running.use(await startWorld({ users: 1, relayers: 2 }));
    rig = running.use(await startPaymentsRig());
    const relayer = await world.startRelayer({ index: 0 });
    const watchtower = await world.startWatchtower({ index: 1 });
    const env = { ...rig.settingsFor(await rig.fundKey()), LOG_LEVEL: 'info' };
    const payments = running.use(await startProgram('payments', { env }));
    const monitorEnv = { ...env, DATA_DIR: `${rig.dir}/monitor` };
    const monitor = running.use(await startProgram('gasMonitor', { env: monitorEnv }));
    urls.push(...[world.gateway, relayer, watchtower, payments, monitor].map(({ url }) => url));
  });
  afterAll(() => running.disposeAsync());

  test('emit every metric that rules and dashboards name, with every value that they name', async () => {
    // What is reported by chain, reason or verdict needs a request.
    const [user] = world.users;
    if (user === undefined) throw new Error('the world has no user');
    const timestamp = BigInt(Math.floor(Date.now() / 1000));
    const wish = { dataId: '0xda7a', payload: '0x01', relayerFee: 3000n * 10n ** 18n, nonce: 0n, timestamp } as const;
    const params = await signWrite(world.deployment, user, wish);
    const backup = fileURLToPath(new URL('../../packages/gateway/src/entry/backup.ts', import.meta.url));
    await run(process.execPath, [backup, `${rig.dir}/backup`], {
      env: { ...process.env, DATA_DIR: world.gateway.dataDir },
    });
    await world.client.submitRequest({ chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params });
    const asked = listAskedMetrics();
    expect(asked.length).toBeGreaterThan(80);
    const readAll = () => Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
    await expect.poll(async () => findMissingMetrics(asked, await readAll())).toEqual([]);
  });

  test.skipIf(prometheus === undefined)('are scraped by Prometheus, which evaluates every rule and panel', async () => {
    const [gateway = '', relayer = '', watchtower = '', payments = '', monitor = ''] = urls;
    const targets = { gateway, relayer, watchtower, payments, 'gas-monitor': monitor };
    const server = running.use(await startPrometheus(prometheus as string, targets));
    const health = async () => {
      const { activeTargets } = await server.ask<Targets>('/targets');
      return activeTargets.map(({ labels, health, lastError }) => `${labels.job} ${health} ${lastError}`).toSorted();
    };
    const up = Object.keys(targets).map((job) => `${job} up `);
    await expect.poll(health, { timeout: TIMEOUT_MS }).toEqual(up.toSorted());
    const evaluate = async () => {
      const { groups } = await server.ask<RuleGroups>('/rules');
      const rules = groups.flatMap((group) => group.rules);
      return rules.map(({ name, health, lastError = '' }) => `${name} ${health} ${lastError}`).toSorted();
    };
    const names = listAlerts();
    expect(names.length).toBeGreaterThan(20);
    await expect.poll(evaluate, { timeout: TIMEOUT_MS }).toEqual(names.map((name) => `${name} ok `).toSorted());
    const ask = async (query: string) => {
      const { result } = await server.ask<{ result: readonly unknown[] }>(`/query?query=${encodeURIComponent(query)}`);
      return result.length;
    };
    // A rule that keeps quiet has no result; a panel shows something, if only after the second look at a counter.
    const panels = listExpressions().slice(names.length);
    const findSilent = async () => {
      const counts = await Promise.all(panels.map(ask));
      return panels.filter((_, place) => counts[place] === 0);
    };
    await expect.poll(findSilent, { timeout: TIMEOUT_MS }).toEqual([]);
  });
});
