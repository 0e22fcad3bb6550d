import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BrowserRig, findChromium, openBrowser, type RunningGateway, startGateway } from '@prism-gateway/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const chromium = findChromium();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RELAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const MAX_GZIPPED_BYTES = 120_000;
/** Where screenshots are kept: `CONSOLE_SCREENSHOTS=docs/console npm test`. */
const { CONSOLE_SCREENSHOTS: screenshots } = process.env;

/** What stands out to the right of the window, and is no part of what scrolls by itself. */
const FIND_OVERFLOW = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((one) => one.closest('.scroll *') === null && one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 200))`;

/** What axe finds on the page as it is. */
async function findBarriers(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

async function keep(page: Page, name: string): Promise<void> {
  if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

describe.skipIf(chromium === undefined)('the console, in Chromium', () => {
  let gateway: RunningGateway;
  let browser: BrowserRig;
  beforeAll(async () => {
    gateway = await startGateway();
    browser = await openBrowser(chromium ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.kill();
  });

  async function submit(chainName: string): Promise<string> {
    const params = {
      ...{ cloudId: '0x01', dataId: '0x02', payload: '0x', relayerFee: '0', timestamp: '1767225600', signer: RELAYER },
      ...{ v: 27, r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}` },
    };
    const body = JSON.stringify({ chainName, action: 'WRITE_DATA_FOR', params });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}/requests`, { method: 'POST', headers, body });
    return ((await answer.json()) as { requestId: string }).requestId;
  }

  /** Opens the console as somebody who has the key. What the page is refused or complains of fails the test. */
  async function enter(): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${gateway.url}/console`);
    await page.getByLabel('Admin key').fill(gateway.adminKey);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    return { page, complaints };
  }

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
    await submit('eip155:10');
    await page.getByRole('cell', { name: 'eip155:10', exact: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'overview');
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-2.
  test('a request is found by its id, and removed after a confirmation', async () => {
    const requestId = await submit('eip155:100');
    const { page, complaints } = await enter();
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await page.getByRole('button', { name: `Show ${requestId}` }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'queue');
    await page.getByLabel('Find by id').fill(requestId);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Params' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'request');
    await page.getByRole('button', { name: 'Remove for good' }).click();
    await page.getByText(`Remove ${requestId} for good?`).waitFor();
    await page.getByRole('button', { name: 'Remove for good' }).click();
    await page.getByText('Done: Remove for good.').waitFor();
    expect((await fetch(`${gateway.url}/requests/${requestId}`)).status).toBe(404);
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-2.
  test('a relayer is put on the whitelist and taken off it by keyboard alone', async () => {
    const { page, complaints } = await enter();
    await page.getByRole('button', { name: 'Relayers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Address').focus();
    await page.keyboard.type(RELAYER);
    await page.keyboard.press('Tab');
    await page.keyboard.type('eu-1');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keep(page, 'relayers');
    await page.getByRole('button', { name: `Remove ${RELAYER}` }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Done: Remove.').waitFor();
    await page.getByRole('cell', { name: 'eu-1' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  // Shows CONSOLE-3.
  test('it fits 390 px, dark as well as light', async () => {
    const { page } = await enter();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const view of ['Overview', 'Queue', 'Relayers']) {
      await page.getByRole('button', { name: view, exact: true }).click();
      await page
        .getByRole('heading', { name: view === 'Overview' ? 'Chains' : view === 'Queue' ? 'Requests' : 'Relayers' })
        .waitFor();
      expect(await page.evaluate(FIND_OVERFLOW)).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
      await keep(page, `${view.toLowerCase()}-390-dark`);
    }
    await page.close();
  });

  // Shows CONSOLE-1.
  test('the whole page weighs little, comes from the gateway alone, and may do nothing but call it', async () => {
    const names = ['', '/console.css', '/uPlot.min.css', '/uPlot.iife.min.js', '/preact.js'];
    const own = ['/app.js', '/api.js', '/parts.js', '/overview.js', '/queue.js', '/relayers.js'];
    let bytes = 0;
    for (const name of [...names, ...own]) {
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
