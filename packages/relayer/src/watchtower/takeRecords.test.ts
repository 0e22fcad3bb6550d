import { expect, test } from 'vitest';
import { at, EXECUTION, OTHER, RELAYER, startWatchRig, word } from '../../test/watchRig.ts';

// Shows WATCH-1.
test('two that hold a request by turns, each for less than a lease and a quarter, are found; one that worked besides is not', async () => {
  const { world, journal, claim, report, live } = startWatchRig();
  const TURN = 960n;
  await live(60n);
  claim();
  for (const holder of [OTHER, RELAYER, OTHER]) {
    expect(await live(TURN)).toEqual([]);
    report({ claimedBy: holder, claimedAt: at(world.seconds) });
  }
  expect(await live(24n)).toEqual(['idleRelease']);
  expect(journal.listFindings()[0]?.relayer).toBe(RELAYER);
  world.mined.push({ ...EXECUTION, txHash: word('12'), digest: word('13'), relayer: OTHER, block: 1n });
  await live(TURN);
  report({ claimedBy: RELAYER, claimedAt: at(world.seconds) });
  expect(await live(24n)).toEqual(['idleRelease']);
});

// Shows WATCH-7.
test.each([4205n, 209n, -209n, -4205n])(
  'a machine whose clock is %i s behind, gateway and watchtower, has no time missed between claim and report',
  async (lag) => {
    const { world, claim, report, live } = startWatchRig();
    Object.assign(world, { gatewayLag: lag, ownLag: lag });
    await live(60n);
    claim();
    const claimed = world.seconds;
    await live(60n);
    report({ status: 'failed', errorMessage: 'out of luck' });
    const ended = world.seconds;
    await live(lag < 0n ? 4500n : 120n);
    const { claimedSeconds = 0n, endedSeconds = 0n, reportedSeconds = -1n } = world.accused?.report ?? {};
    expect(claimedSeconds).toBeLessThanOrEqual(claimed);
    expect(endedSeconds).toBeGreaterThanOrEqual(ended);
    // What it carries out after it was posted again is no proof of a lie.
    expect(reportedSeconds).toBeLessThanOrEqual(ended + 1n);
  },
);
