import { gzipSync } from 'node:zlib';
import { type BrowserRig, findChromium, openBrowser, type RunningGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBarriers, keep, openConsole, type Page, plantText, reach, SIGNER, submitRequest } from './consoleRig.ts';
import { type ConsoleWorld, type Filled, fillWorld, openConsoleWorld, PAYMENT } from './consoleWorld.ts';

const chromium = findChromium();
const MAX_GZIPPED_BYTES = 120_000;
const LONG_MS = 600_000;

/** Elements that stick out to the right of the window and are not inside anything that scrolls by itself. */
const FIND_OVERFLOW = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((one) => one.closest('.scroll *') === null && one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 200))`;

/** How much of what stood there has moved while the page was filled, as browsers score it: from 0.1 on it is called bad. */
const READ_SHIFT = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 300);
})`;
const MAX_SHIFT = 0.02;

const SIZES = { 1280: { width: 1280, height: 900 }, 390: { width: 390, height: 844 } } as const;

describe.skipIf(chromium === undefined)('the console, in Chromium', () => {
  let world: ConsoleWorld;
  let gateway: RunningGateway;
  let filled: Filled;
  let browser: BrowserRig;
  beforeAll(async () => {
    [world, browser] = await Promise.all([
      openConsoleWorld({ ADMIN_READ_KEYS: 'support-key' }),
      openBrowser(chromium ?? ''),
    ]);
    ({ gateway } = world);
    filled = await fillWorld(world);
    await fetch(`${gateway.url}/admin/webhooks`, {
      method: 'POST',
      headers: { 'x-admin-key': gateway.adminKey, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'http://127.0.0.1:1/hook', events: ['request.failed'], label: 'accounting' }),
    });
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const enter = () => openConsole(browser, gateway);
  const open = (page: Page, address: string) => page.goto(`${gateway.url}/console${address}`);
  /** Each view by its address, with a text that stands there once it is shown. */
  const listViews = (): Record<string, readonly [address: string, text: string | RegExp]> => ({
    overview: ['', /things need you/],
    week: ['?span=week', /things need you/],
    requests: ['/requests', 'eu-1'],
    nothing: ['/requests?chain=nowhere', 'No request matches'],
    request: [`/requests/${filled.done}`, 'Fee raised, time 1'],
    failed: [`/requests/${filled.failed}`, 'Why it failed'],
    left: [`/requests/${filled.left}`, 'Left by eu-1'],
    relayers: ['/relayers', 'Relayers'],
    payments: ['/payments', 'Treasury'],
    payment: [`/payments/${PAYMENT}`, 'Why it is held'],
    monitors: ['/monitors', /own transaction had carried/],
    webhooks: ['/webhooks', 'accounting'],
    system: ['/system', 'Limits in force'],
    audit: ['/audit', 'relayers.suspend'],
  });

  // Shows CONSOLE-1, CONSOLE-3.
  test('a wrong key is reported, and without one nothing is shown', async () => {
    const page = await browser.context.newPage();
    await open(page, '/requests');
    await page.getByLabel('Admin key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The X-Admin-Key is wrong.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Admin key').fill(gateway.adminKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await page.close();
  });

  // Shows CONSOLE-3.
  test.each(Object.entries(SIZES))(
    'every view is without barriers and fits at %s px, light and dark',
    async (size, viewport) => {
      const { page, complaints } = await enter();
      await page.setViewportSize(viewport);
      for (const [name, [address, text]] of Object.entries(listViews())) {
        await open(page, address);
        await page.getByText(text).first().waitFor();
        expect([name, ...(await page.evaluate<string[]>(FIND_OVERFLOW))]).toEqual([name]);
        expect(await page.evaluate<number>(READ_SHIFT), `${name} at ${size} px`).toBeLessThan(MAX_SHIFT);
        expect([name, size, ...(await findBarriers(page))]).toEqual([name, size]);
        if (size === '390') await page.emulateMedia({ colorScheme: 'dark' });
        await keep(page, size === '390' ? `${name}-390-dark` : name);
      }
      expect(complaints).toEqual([]);
      await page.close();
    },
    LONG_MS,
  );

  // Shows CONSOLE-2, CONSOLE-3.
  test.each(Object.entries(SIZES))(
    'every dialog and menu is without barriers at %s px, light and dark',
    async (size, viewport) => {
      const { page } = await enter();
      await page.setViewportSize(viewport);
      const look = async (name: string) => {
        expect([name, size, ...(await findBarriers(page))]).toEqual([name, size]);
        expect([name, ...(await page.evaluate<string[]>(FIND_OVERFLOW))]).toEqual([name]);
        await page.keyboard.press('Escape');
      };
      const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
      for (const [id, words] of [
        [filled.held, ['Release', 'Fail']],
        [filled.failed, ['Put back to pending', 'Remove for good']],
      ] as const) {
        await open(page, `/requests/${id}`);
        for (const word of words) {
          await button(word).click();
          await page.getByRole('dialog').waitFor();
          if (word === 'Release' && size === '1280') await keep(page, 'dialog');
          await look(word);
        }
      }
      await open(page, '/relayers');
      await button('Add a relayer').click();
      await look('Add a relayer');
      await button('Acts on eu-1').click();
      await page.getByRole('menu').waitFor();
      if (size === '1280') await keep(page, 'menu');
      await look('menu');
      await button('Acts on eu-1').click();
      await page.getByRole('menuitem', { name: 'Suspend' }).click();
      await look('Suspend');
      await open(page, '/webhooks');
      await button('Register a webhook').click();
      await look('Register a webhook');
      await page.close();
    },
    LONG_MS,
  );

  // Shows CONSOLE-3.
  test('a request that is posted comes in without a reload, and nobody who works in the table is disturbed', async () => {
    const { page } = await enter();
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    const rows = page.locator('table.rows tbody tr');
    await rows.first().waitFor();
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await page.mouse.move(5, 5);
    const first = await submitRequest(gateway, 'eip155:10');
    await expect.poll(() => rows.first().textContent()).toContain(first.slice(-6));
    await rows.nth(1).hover();
    const second = await submitRequest(gateway, 'eip155:10');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await rows.first().textContent()).toContain(first.slice(-6));
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => rows.first().textContent()).toContain(second.slice(-6));
    expect(calls.filter((path) => path.includes('.js'))).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-3.
  test('a gateway that is away is reported, and that it is back', async () => {
    const { page } = await enter();
    await page.route('**/admin/stats*', (route) => route.abort());
    await submitRequest(gateway, 'eip155:2');
    await page.getByText('The gateway does not answer.').waitFor();
    await page.getByText('Away', { exact: true }).waitFor();
    await page.unroute('**/admin/stats*');
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.locator('p[role=status]').textContent()).toBe('');
    await page.close();
  });

  // Shows CONSOLE-6.
  test('every view has an address: reload, back and a new tab show the same', async () => {
    const { page } = await enter();
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'Failed' }).click();
    await page.locator('a.row-link').first().click();
    await page.getByText('Why it failed').waitFor();
    const address = page.url();
    await page.reload();
    await page.getByText('Why it failed').waitFor();
    await page.goBack();
    expect(new URL(page.url()).search).toBe('?status=failed');
    await expect.poll(() => page.locator('table.rows .badge').allInnerTexts()).not.toContain('Succeeded');
    // Ctrl and a click open a tab, which has the key of the one that it came from.
    const [tab] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate<void>(`void window.open(${JSON.stringify(address)})`),
    ]);
    await tab.getByText('Why it failed').waitFor();
    await tab.close();
    await page.close();
  });

  // Shows CONSOLE-2.
  test('rows are walked by the arrow keys, and `/` goes to the search', async () => {
    const { page } = await enter();
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    const links = page.locator('a.row-link');
    await links.first().focus();
    await page.keyboard.press('ArrowDown');
    expect(await links.nth(1).evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('/');
    await page.keyboard.type('eu-1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Relayers', level: 1 }).waitFor();
    expect(page.url()).toContain('/console/relayers/0x');
    await page.close();
  });

  // Shows CONSOLE-2, ADMIN-15.
  test('a key for reading shows all and offers no act', async () => {
    const { page, complaints } = await openConsole(browser, gateway, 'support-key');
    await page.getByText('Read-only key').waitFor();
    for (const address of [`/requests/${filled.held}`, '/relayers', '/webhooks']) {
      await open(page, address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.card').first().waitFor();
      const words = /^(Release|Fail|Remove|Suspend|Add|Register|Acts)/;
      expect([address, await page.getByRole('button', { name: words }).count()]).toEqual([address, 0]);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-3.
  test('a relayer is put on the whitelist by keyboard alone', async () => {
    const { page } = await enter();
    const press = async (name: string) => {
      await reach(page.getByRole('button', { name, exact: true }));
      await page.keyboard.press('Enter');
    };
    await reach(page.getByRole('link', { name: 'Relayers', exact: true }));
    await page.keyboard.press('Enter');
    await press('Add a relayer');
    await reach(page.getByLabel('Address', { exact: true }));
    await page.keyboard.type(SIGNER);
    await page.keyboard.press('Tab');
    await page.keyboard.type('keyboard-1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'keyboard-1' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.close();
  });

  // Shows CONSOLE-1.
  test('what others wrote is text wherever it is shown', async () => {
    const text = `"><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script><a href="javascript:0">`;
    const requestId = await plantText(gateway, text);
    world.statuses.watchtower = () => ({
      program: 'watchtower',
      faults: [text],
      chains: [{ chainName: text, total: 0, findings: [], requests: {} }],
    });
    const { page, complaints } = await enter();
    for (const address of [
      '',
      '/requests',
      `/requests/${requestId}`,
      '/relayers',
      '/payments',
      '/monitors',
      '/webhooks',
      '/system',
      '/audit',
      `/relayers/${encodeURIComponent(text)}`,
    ]) {
      await open(page, address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton').waitFor({ state: 'detached' });
      if (/requests\/|relayers|monitors|webhooks|audit/.test(address)) await page.getByText(text).first().waitFor();
      expect([address, await page.locator('#app img, #app script, a[href^="javascript:"]').count()]).toEqual([
        address,
        0,
      ]);
      expect(await page.title()).not.toBe('pwned');
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-1.
  test('the whole page weighs little, comes from the gateway alone, and may do nothing but call it', async () => {
    const { page } = await enter();
    const assets = new Set<string>();
    page.on('request', (request) => assets.add(request.url()));
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const files = [...assets].filter((url) => url.includes('/console'));
    let bytes = 0;
    for (const url of files) {
      const answer = await fetch(url);
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      bytes += gzipSync(await answer.arrayBuffer()).length;
    }
    expect([...assets].filter((url) => !url.startsWith(gateway.url))).toEqual([]);
    expect(files.length).toBeGreaterThan(20);
    // Each module is named by the page, so that none waits for another to name it.
    const named = await page
      .locator('link[rel=modulepreload]')
      .evaluateAll((links) => links.map(({ href }: { href: string }) => href));
    const modules = files.filter((url) => url.endsWith('.js') && !/\/(app|uPlot\.iife\.min)\.js$/.test(url));
    expect(modules.toSorted()).toEqual(named.toSorted());
    expect(bytes).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
    console.log(`console: ${files.length} files, ${bytes} bytes gzipped`);
    expect((await fetch(`${gateway.url}/console/package.json`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/console/..%2fpackage.json`)).status).toBe(404);
    await page.close();
  });
});
