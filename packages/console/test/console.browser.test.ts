import { gzipSync } from 'node:zlib';
import { type BrowserRig, findChromium, openBrowser, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBarriers, keep, openConsole, plantText, reach, SIGNER, submitRequest } from './consoleRig.ts';

const chromium = findChromium();
const MAX_GZIPPED_BYTES = 120_000;

/** What stands out to the right of the window, and is no part of what scrolls by itself. */
const FIND_OVERFLOW = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((one) => one.closest('.scroll *') === null && one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 200))`;

/** Each view, with a heading that stands there once it is shown. */
const VIEWS = {
  Overview: 'Chains',
  Queue: 'Requests',
  Relayers: 'Relayers',
  Webhooks: 'Webhooks',
  Service: 'Limits in force',
  Audit: 'Audit log',
};

describe.skipIf(chromium === undefined)('the console, in Chromium', () => {
  let gateway: RunningGateway;
  let browser: BrowserRig;
  beforeAll(async () => {
    gateway = await startGateway({ env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
    browser = await openBrowser(chromium ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.kill();
  });

  const submit = (chainName: string) => submitRequest(gateway, chainName);
  const enter = () => openConsole(browser, gateway);

  // Shows CONSOLE-1, CONSOLE-3.
  test('a wrong key is told, the right one shows the queue, and it moves without reloading', async () => {
    const first = await browser.context.newPage();
    await first.goto(`${gateway.url}/console`);
    await first.getByLabel('Admin key').fill('wrong');
    await first.keyboard.press('Enter');
    await first.getByText('The X-Admin-Key is wrong.').waitFor();
    expect(await findBarriers(first)).toEqual([]);
    await first.close();

    await submit('eip155:1');
    const { page, complaints } = await enter();
    await page.getByRole('cell', { name: 'eip155:1', exact: true }).waitFor();
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).search));
    await submit('eip155:10');
    await page.getByRole('cell', { name: 'eip155:10', exact: true }).waitFor();
    expect(calls.filter((query) => !query.includes('wait=25'))).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'overview');
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await page.getByRole('cell', { name: 'eip155:10', exact: true }).waitFor();
    await submit('eip155:100');
    await page.getByRole('cell', { name: 'eip155:100', exact: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'queue');
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-3.
  test('a gateway that is away is told, and that it is back', async () => {
    const { page } = await enter();
    await page.route('**/admin/stats*', (route) => route.abort());
    await submit('eip155:2');
    await page.getByText('The gateway does not answer.').waitFor();
    await page.unroute('**/admin/stats*');
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'eip155:2', exact: true }).waitFor();
    expect(await page.getByRole('status').textContent()).toBe('');
    await page.close();
  });

  // Shows CONSOLE-2.
  test('a relayer is put on the whitelist and taken off it by keyboard alone', async () => {
    const { page, complaints } = await enter();
    await page.getByRole('button', { name: 'Relayers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Address').focus();
    await page.keyboard.type(SIGNER);
    await page.keyboard.press('Tab');
    await page.keyboard.type('eu-1');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: `Remove ${SIGNER}` }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Done: Remove.').waitFor();
    await page.getByRole('cell', { name: 'eu-1' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-3, WEBHOOK-8.
  test('the key is entered and a webhook registered by Tab and Enter alone', async () => {
    const page = await browser.context.newPage();
    const { keyboard } = page;
    const press = async (name: string) => {
      await reach(page.getByRole('button', { name, exact: true }));
      await keyboard.press('Enter');
    };
    await page.goto(`${gateway.url}/console`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('Admin key').waitFor();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findBarriers(page)).toEqual([]);
    }
    await reach(page.getByLabel('Admin key'));
    await keyboard.type(gateway.adminKey);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await press('Webhooks');
    await reach(page.getByLabel('URL'));
    // Nobody listens there, and no request is made.
    await keyboard.type('https://keyboard.example.org/hook');
    await reach(page.getByLabel('request.failed'));
    await keyboard.press('Space');
    await press('Register');
    await page.getByText(/whsec_/).waitFor();
    await press('I have kept it');
    await press('Remove https://keyboard.example.org/hook');
    await reach(page.getByRole('dialog').getByRole('button', { name: 'Remove' }));
    await keyboard.press('Enter');
    await page.getByText('Done: Remove.').waitFor();
    await expect.poll(() => page.getByRole('cell', { name: /keyboard/ }).count()).toBe(0); // as soon as the list is read again
    await page.close();
  });

  // Shows CONSOLE-3.
  test('it fits 390 px, dark as well as light', async () => {
    const { page } = await enter();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [view, heading] of Object.entries(VIEWS)) {
      await page.getByRole('button', { name: view, exact: true }).click();
      await page.getByRole('heading', { name: heading }).waitFor();
      expect(await page.evaluate(FIND_OVERFLOW)).toEqual([]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect([view, colorScheme, ...(await findBarriers(page))]).toEqual([view, colorScheme]);
      }
      await keep(page, `${view.toLowerCase()}-390-dark`);
    }
    await page.close();
  });

  // Shows CONSOLE-1.
  test('what others wrote is text wherever it is shown', async () => {
    const text = `"><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script><a href="javascript:0">`;
    const requestId = await plantText(gateway, text);
    const { page, complaints } = await enter();
    const shown = async () => [
      await page.getByText(text).count(),
      await page.locator('img, body script:not([src]), a[href^="javascript:"]').count(),
      await page.title(),
    ];
    const title = await page.title();
    for (const [view, heading] of Object.entries(VIEWS)) {
      await page.getByRole('button', { name: view, exact: true }).click();
      await page.getByRole('heading', { name: heading }).waitFor();
      if (view === 'Relayers' || view === 'Webhooks' || view === 'Audit') await page.getByText(text).first().waitFor();
      expect([view, ...(await shown()).slice(1)]).toEqual([view, 0, title]);
    }
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await page.getByLabel('Find by id, signer or transaction').fill(requestId);
    await page.keyboard.press('Enter');
    // Its payload, and why it failed.
    await expect.poll(() => page.getByRole('dialog').getByText(text).count()).toBeGreaterThanOrEqual(2);
    expect((await shown()).slice(1)).toEqual([0, title]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-1.
  test('the whole page weighs little, comes from the gateway alone, and may do nothing but call it', async () => {
    const names = ['', '/console.css', '/uPlot.min.css', '/uPlot.iife.min.js', '/preact.js'];
    const views = [
      '/overview.js',
      '/queue.js',
      '/story.js',
      '/relayers.js',
      '/webhooks.js',
      '/service.js',
      '/audit.js',
    ];
    let bytes = 0;
    for (const name of [...names, ...views, '/app.js', '/api.js', '/follow.js', '/params.js', '/parts.js']) {
      const answer = await fetch(`${gateway.url}/console${name}`);
      expect([name, answer.status]).toEqual([name, 200]);
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      bytes += gzipSync(await answer.arrayBuffer()).length;
    }
    expect(bytes).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
    expect((await fetch(`${gateway.url}/console/package.json`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/console/..%2fpackage.json`)).status).toBe(404);
  });
});
