import { startGateway } from '@prism-gateway/testing';
import { COMBINED, describeReport, runAttacks } from '@prism-gateway/testing/attacks';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { expect, test } from 'vitest';
import * as programs from '../../../../bin/programs.mjs';

const MEGABYTE = 1_000_000;
/** What a whole attack may cost, on a machine that has nothing else to do. */
const MOST = { peakBytes: 300 * MEGABYTE, keptBytes: 30 * MEGABYTE, p99Ms: 250 };
const PERCENT = 100;
/** Of the connections of the full size. */
const SHARE = sized({ small: 4, long: PERCENT }) / PERCENT;
const SECONDS = sized({ small: 1, long: 20 });

const sizes = Object.fromEntries(Object.entries(COMBINED).map(([name, count]) => [name, Math.round(count * SHARE)]));

// Shows LIMIT-14 and LIMIT-15.
test(
  'half bodies, readers of nothing and slow senders at once fill no memory, and fail no honest call',
  async () => {
    // As `npm start` runs it, with all its defaults but for the port.
    const { env, nodeFlags } = programs.gateway;
    const gateway = await startGateway({ env, nodeFlags });
    try {
      const pid = gateway.process.pid;
      if (pid === undefined) throw new Error('The gateway has no process.');
      const report = await runAttacks({ url: gateway.url, sizes, seconds: SECONDS, recoverySeconds: SECONDS, pid });
      if (isLong) console.log(describeReport(report).join('\n'));
      expect(report.honest).toMatchObject({ failures: 0 });
      expect(report.honest.calls).toBeGreaterThan(0);
      // It has a process to look at.
      const { before, peak, after } = report.memory!;
      expect(peak).toBeLessThanOrEqual(MOST.peakBytes);
      if (isLong) {
        expect(after - before).toBeLessThanOrEqual(MOST.keptBytes);
        expect(report.honest.p99).toBeLessThanOrEqual(MOST.p99Ms);
      }
      for (const { name, state } of report.attacks) expect([name, state.tried]).toEqual([name, sizes[name]]);
      expect(await gateway.stop()).toBe(0);
    } finally {
      await gateway.kill();
    }
  },
  sized({ small: 120_000, long: 900_000 }),
);
