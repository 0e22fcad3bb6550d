import { setTimeout as sleep } from 'node:timers/promises';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createPostgresRig } from '../rigs/postgresStores.ts';

const BODY = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
/** How often the balancer asks; it may send calls for as long to one that stops. */
const CHECK_MS = 100;

/** Sends calls in turn to those of two gateways that are ready, over connections that stay open. */
function startBalancer(gateways: readonly RunningGateway[]) {
  const ready = new Set(gateways);
  let turn = 0;
  const check = async (gateway: RunningGateway) => {
    const answer = await fetch(`${gateway.url}/ready`).catch(() => undefined);
    if (answer?.ok) ready.add(gateway);
    else ready.delete(gateway);
  };
  const timer = setInterval(() => void Promise.all(gateways.map(check)), CHECK_MS);
  return {
    ready,
    async post(): Promise<number> {
      const up = [...ready];
      const gateway = up[turn++ % up.length];
      if (gateway === undefined) return 503;
      const call = fetch(`${gateway.url}/requests`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: BODY,
      });
      return await call.then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        },
        () => 502,
      );
    },
    close: () => clearInterval(timer),
  };
}

// Shows POSTGRES-4.
test('two gateways on one database are started again one after the other, and no call fails', async () => {
  const rig = await createPostgresRig();
  const env = { STORE: 'postgres', DATABASE_URL: rig.url, DRAIN_SECONDS: '3' };
  const gateways = [await startGateway({ env }), await startGateway({ env })];
  const balancer = startBalancer(gateways);
  const counts = new Map<number, number>();
  let isOver = false;
  const load = async () => {
    while (!isOver) {
      const status = await balancer.post();
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  const loads = Array.from({ length: 4 }, load);
  for (const gateway of gateways) {
    const process = gateway.process;
    process.kill('SIGTERM');
    while (process.exitCode === null) await sleep(20);
    expect(process.exitCode).toBe(0);
    await gateway.restart();
    while (!balancer.ready.has(gateway)) await sleep(20);
  }
  isOver = true;
  await Promise.all(loads);
  balancer.close();
  expect([...counts.keys()]).toEqual([201]);
  const [{ stored }] = (await rig.query('SELECT count(*)::int AS stored FROM "service-requests-dev"')) as [
    { stored: number },
  ];
  expect(stored).toBe(counts.get(201));
  for (const gateway of gateways) await gateway.stop();
  await rig.close();
});
