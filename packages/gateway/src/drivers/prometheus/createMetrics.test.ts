import { createFakeClock } from '@prism-gateway/testing';
import { describe, expect, test } from 'vitest';
import type { RequestStats } from '../../ports/requestStore.ts';
import { createMetrics } from './createMetrics.ts';

const clock = createFakeClock();
const countByStatus = { pending: 3, processing: 2, success: 1, failed: 0 };
const createWith = (readStats: () => Promise<RequestStats>) => createMetrics({ readStats }, clock.now);

/** Value of a series by its full name; undefined if there is none. */
async function readSeries(metrics: ReturnType<typeof createWith>, series: string): Promise<number | undefined> {
  const { body } = await metrics.render();
  const line = body.split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test('requests and their latency are counted by method, route and status', async () => {
  const metrics = createWith(async () => ({}));
  for (const seconds of [0.002, 0.2]) metrics.answered({ method: 'GET', route: '/requests', status: 200, seconds });
  metrics.answered({ method: 'GET', route: '/requests', status: 401, seconds: 0.001 });
  const labels = 'method="GET",route="/requests"';
  expect(await readSeries(metrics, `prism_http_requests_total{${labels},status="200"}`)).toBe(2);
  expect(await readSeries(metrics, `prism_http_requests_total{${labels},status="401"}`)).toBe(1);
  expect(await readSeries(metrics, `prism_http_request_seconds_count{${labels}}`)).toBe(3);
  expect(await readSeries(metrics, `prism_http_request_seconds_bucket{le="0.0025",${labels}}`)).toBe(2);
});

test('claims are counted by their result', async () => {
  const metrics = createWith(async () => ({}));
  for (const result of ['won', 'lost', 'lost'] as const) metrics.claimed(result);
  expect(await readSeries(metrics, 'prism_claims_total{result="won"}')).toBe(1);
  expect(await readSeries(metrics, 'prism_claims_total{result="lost"}')).toBe(2);
});

describe('the queue', () => {
  test('is read once a scrape, and shown by the first one already', async () => {
    let reads = 0;
    const metrics = createWith(async () => {
      reads++;
      return { countByStatus, oldestPendingAt: clock.now() - 1500 };
    });
    const { body } = await metrics.render();
    expect(reads).toBe(1);
    for (const [status, count] of Object.entries(countByStatus))
      expect(body).toContain(`prism_requests{status="${status}"} ${count}\n`);
    expect(body).toContain('prism_oldest_pending_seconds 1.5\n');
  });

  test('has no oldest pending request: its age is 0', async () => {
    expect(
      await readSeries(
        createWith(async () => ({ countByStatus })),
        'prism_oldest_pending_seconds',
      ),
    ).toBe(0);
  });

  test('a store that does not answer leaves the rest to be read, and no old value behind', async () => {
    let answers = true;
    const metrics = createWith(async () => {
      if (!answers) throw new Error('gone');
      return { countByStatus, oldestPendingAt: clock.now() };
    });
    expect(await readSeries(metrics, 'prism_requests{status="pending"}')).toBe(3);
    answers = false;
    expect(await readSeries(metrics, 'prism_requests{status="pending"}')).toBeUndefined();
    expect(await readSeries(metrics, 'prism_oldest_pending_seconds')).toBeUndefined();
    expect(await readSeries(metrics, 'process_resident_memory_bytes')).toBeGreaterThan(0);
  });
});

const noneOf = { pending: 0, processing: 0, success: 0, failed: 0 };

// Shows OPERATE-4.
test('chains are reported by name as far as their number is bounded, those with the most open requests first', async () => {
  const chains = Array.from({ length: 30 }, (_, i) => ({ ...noneOf, chainName: `chain-${i}`, pending: i }));
  const readQueue = async () => ({
    chains: [...chains, { ...noneOf, chainName: null, success: 7 }],
    oldestProcessingAt: clock.now() - 2500,
  });
  const metrics = createMetrics({ readStats: async () => ({}), readQueue }, clock.now);
  expect(await readSeries(metrics, 'prism_requests_by_chain{chain="chain-29",status="pending"}')).toBe(29);
  expect(await readSeries(metrics, 'prism_requests_by_chain{chain="chain-9",status="pending"}')).toBeUndefined();
  // 0 to 9 together.
  expect(await readSeries(metrics, 'prism_requests_by_chain{chain="other",status="pending"}')).toBe(45);
  expect(await readSeries(metrics, 'prism_requests_by_chain{chain="other",status="success"}')).toBe(7);
  expect((await metrics.render()).body.match(/^prism_requests_by_chain/gm)).toHaveLength(21 * 4);
  expect(await readSeries(metrics, 'prism_oldest_processing_seconds')).toBe(2.5);
});

// Shows OPERATE-4.
test('the oldest pending request is reported of all chains, and of each that is reported by name', async () => {
  const asked: string[] = [];
  const chains = Array.from({ length: 30 }, (_, i) => ({ ...noneOf, chainName: `chain-${i}`, pending: i }));
  const metrics = createMetrics(
    {
      readStats: async () => ({ oldestPendingAt: clock.now() - 4000 }),
      readQueue: async () => ({ chains: [...chains, { ...noneOf, chainName: null, pending: 7 }] }),
      async findOldestPending(chainName) {
        asked.push(chainName);
        return chainName === 'chain-12' ? undefined : clock.now() - 1500;
      },
    },
    clock.now,
  );
  const { body } = await metrics.render();
  expect(body).toContain('\nprism_oldest_pending_seconds 4\n');
  expect(body).toContain('\nprism_oldest_pending_seconds{chain="chain-29"} 1.5\n');
  expect(body).toContain('\nprism_oldest_pending_seconds{chain="chain-12"} 0\n');
  expect(body.match(/^prism_oldest_pending_seconds\{/gm)).toHaveLength(20);
  expect(asked).toHaveLength(20);
});

test('a store that fails for one chain leaves the age of all chains to be read', async () => {
  const metrics = createMetrics(
    {
      readStats: async () => ({ oldestPendingAt: clock.now() - 4000 }),
      readQueue: async () => ({ chains: [{ ...noneOf, chainName: 'one', pending: 1 }] }),
      findOldestPending: () => Promise.reject(new Error('gone')),
    },
    clock.now,
  );
  expect(await readSeries(metrics, 'prism_oldest_pending_seconds')).toBe(4);
  expect(await readSeries(metrics, 'prism_oldest_pending_seconds{chain="one"}')).toBeUndefined();
});

test('budgets in use are reported by name', async () => {
  const readBudgets = () => [{ name: 'bodies', used: 12, ended: 3 }];
  const metrics = createMetrics({ readStats: async () => ({}), readBudgets }, clock.now);
  expect(await readSeries(metrics, 'prism_budget_used{budget="bodies"}')).toBe(12);
  expect(await readSeries(metrics, 'prism_budget_ended{budget="bodies"}')).toBe(3);
});

test('disk, last backup and webhooks are reported as they are', async () => {
  const health = { waiting: 2, dropped: 0 };
  const webhooks = [
    { enabled: true, health: { ...health, failingSince: 1 } },
    { health: { ...health, disabledAt: 1 } },
  ];
  const metrics = createMetrics(
    {
      readStats: async () => ({}),
      readDisk: () => ({ freeBytes: 7, leastFreeBytes: 5 }),
      readLastBackup: () => 3000,
      // Of a webhook no more is looked at.
      listWebhooks: async () => webhooks as never,
    },
    clock.now,
  );
  const names = ['disk_free_bytes', 'disk_least_bytes', 'last_backup_timestamp_seconds', 'webhooks_disabled'];
  const more = ['webhooks_failing', 'webhook_deliveries_waiting'];
  const values = await Promise.all([...names, ...more].map((name) => readSeries(metrics, `prism_${name}`)));
  expect(values).toEqual([7, 5, 3, 1, 1, 4]);
  const none = createMetrics({ readStats: async () => ({}), readLastBackup: () => undefined }, clock.now);
  expect(await readSeries(none, 'prism_last_backup_timestamp_seconds')).toBeUndefined();
});
