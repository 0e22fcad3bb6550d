import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type PaymentsRig, startPaymentsRig } from '@prism-gateway/payments/demo';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
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

describe.skipIf(promtool === undefined)("Prometheus' own judgement", () => {
  test('the configuration and the rules are well formed', async () => {
    await expect(run(promtool as string, ['check', 'config', 'prometheus.yml'], { cwd })).resolves.toBeDefined();
    await expect(run(promtool as string, ['check', 'rules', 'alerts.yml'], { cwd })).resolves.toBeDefined();
  });

  test('each alert wakes somebody when it must, and not when it must not', async () => {
    const { stdout } = await run(promtool as string, ['test', 'rules', 'alerts.test.yml'], { cwd });
    expect(stdout).toContain('SUCCESS');
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
    // What is told by chain, reason or verdict needs a request.
    const [user] = world.users;
    if (user === undefined) throw new Error('the world has no user');
    const timestamp = BigInt(Math.floor(Date.now() / 1000));
    const wish = { dataId: '0xda7a', payload: '0x01', relayerFee: 3000n * 10n ** 18n, nonce: 0n, timestamp } as const;
    const params = await signWrite(world.deployment, user, wish);
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
    await expect.poll(health, { timeout: PATIENCE_MS }).toEqual(up.toSorted());
    const judge = async () => {
      const { groups } = await server.ask<RuleGroups>('/rules');
      const rules = groups.flatMap((group) => group.rules);
      return rules.map(({ name, health, lastError = '' }) => `${name} ${health} ${lastError}`).toSorted();
    };
    const names = listAlerts();
    expect(names.length).toBeGreaterThan(20);
    await expect.poll(judge, { timeout: PATIENCE_MS }).toEqual(names.map((name) => `${name} ok `).toSorted());
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
    await expect.poll(findSilent, { timeout: PATIENCE_MS }).toEqual([]);
  });
});
