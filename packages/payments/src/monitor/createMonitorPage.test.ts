import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MonitorReading } from './createMonitor.ts';
import { createMonitorPage } from './createMonitorPage.ts';
import { openMonitorStore } from './openMonitorStore.ts';

test('the status tells of each account with its course, whose last point is the last reading, and of what is not over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gas-status-'));
  const store = openMonitorStore({ file: join(folder, 'monitor.db'), now: Date.now });
  try {
    const account = `0x${'7'.repeat(40)}` as const;
    const reading: MonitorReading = {
      ...{ chain: 'base', account, ether: '0.5', isLow: false, reach: 'It lasts.', at: '2027-01-31T00:00:00Z' },
    };
    store.setSamples(
      `${account} on base`,
      Array.from({ length: 100 }, (_, n) => ({ atMs: n, balanceWei: BigInt(n) * 10n ** 18n, nonce: n })),
    );
    store.outbox.setCondition('RPC base', { sinceMs: 0, alertedAtMs: 0 });
    const page = createMonitorPage({ readings: new Map([[`${account} on base`, reading]]), store, limits: 'Warns.' });
    const status = JSON.parse((await page(new URL('http://127.0.0.1/status'))).body);
    expect(status).toMatchObject({
      ...{ program: 'gas-monitor', limits: 'Warns.', mail: [], accounts: [reading] },
      conditions: [{ name: 'RPC base', since: '1970-01-01T00:00:00Z' }],
    });
    const { course } = status.accounts[0];
    expect(course.length).toBeLessThanOrEqual(48);
    expect(course.at(-1)).toEqual([99, 99]);
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
});
