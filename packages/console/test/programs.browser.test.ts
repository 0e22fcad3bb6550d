import { findChromium, findFreePort, openBrowser } from '@prism-gateway/testing';
import { signWrite, startWorld } from '@prism-gateway/testing/world';
import { expect, onTestFinished, test } from 'vitest';
import { openConsole } from './consoleRig.ts';

const chromium = findChromium();
const CHAIN_NAME = 'eip155:31337';

// Shows CONSOLE-6.
test.skipIf(chromium === undefined)(
  'a request that a real relayer carries out, and a real watchtower looks at, tells its story',
  async () => {
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const [relayerPort, towerPort] = [await findFreePort(), await findFreePort()];
    const urls = [`relayer=http://127.0.0.1:${relayerPort}/status`, `watchtower=http://127.0.0.1:${towerPort}/status`];
    const world = stack.use(
      await startWorld({
        ...{ users: 1, relayers: 2, chain: { blockTimeMs: 1000 } },
        gateway: { STATUS_URLS: urls.join(','), EXPLORER_URLS: `${CHAIN_NAME}=https://explorer.example/tx/{hash}` },
      }),
    );
    await world.startRelayer({ index: 0, env: { METRICS_PORT: String(relayerPort) } });
    await world.startWatchtower({ index: 1, env: { METRICS_PORT: String(towerPort) } });
    const [user] = world.users;
    if (user === undefined) throw new Error('there is one user');
    const params = await signWrite(world.deployment, user, {
      ...{ dataId: '0x01', payload: '0xabcd', nonce: 1n, relayerFee: 3000n * 10n ** 18n },
      timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
    });
    const { requestId } = await world.client.submitRequest({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params });
    const { txHash } = await world.client.waitForRequest(requestId, { timeoutMs: 180_000, pollIntervalMs: 200 });

    const browser = await openBrowser(chromium ?? '');
    stack.defer(() => browser.close());
    const { page, complaints } = await openConsole(browser, world.gateway);
    await page.goto(`${world.gateway.url}/console/requests/${requestId}`);
    await page.getByText('Reported as success').waitFor();
    const story = await page.locator('.timeline strong').allInnerTexts();
    const reported = story.map((title) => title.replace(/ by .*/, ' by …').replace(/block \d+/, 'block …'));
    expect(reported).toEqual([
      'Posted',
      'Found fit to be carried out by …',
      'Claimed by …',
      'Submitted by …',
      'Mined in block …',
      'Confirmed',
      'Reported as success',
    ]);
    expect(await page.locator(`a[href="https://explorer.example/tx/${txHash}"]`).count()).toBeGreaterThan(0);
    await page.goto(`${world.gateway.url}/console/monitors`);
    await page.getByText('Every report that was looked at is true.').waitFor();
    await page.goto(`${world.gateway.url}/console/system`);
    const programs = page.getByRole('table', { name: 'Other programs' });
    await programs.waitFor();
    await expect.poll(() => programs.getByText('Well').count()).toBe(2);
    expect(complaints).toEqual([]);
  },
);
