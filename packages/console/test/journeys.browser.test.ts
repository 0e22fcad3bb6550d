import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BrowserRig, findChromium, openBrowser, type RunningGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAIN, callAsRelayer, openConsole, type Page, type Place, SIGNER, submitRequest } from './consoleRig.ts';
import { type ConsoleWorld, type Filled, fillWorld, openConsoleWorld, PAYMENT, TX } from './consoleWorld.ts';

const chromium = findChromium();
const MOST_CLICKS = 3;
const DAY_MS = 86_400_000;

/** Somebody at the front page, whose clicks are counted: what is typed, and Enter, is none. */
interface Visit {
  readonly page: Page;
  click(place: Place): Promise<void>;
  search(what: string): Promise<void>;
  readonly clicks: () => number;
}

describe.skipIf(chromium === undefined)('journeys through the console', () => {
  let world: ConsoleWorld;
  let gateway: RunningGateway;
  let filled: Filled & { paying: { released: boolean } };
  let browser: BrowserRig;
  beforeAll(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser(chromium ?? '')]);
    ({ gateway } = world);
    filled = await fillWorld(world);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const administer = (method: string, path: string, json?: unknown) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { 'x-admin-key': gateway.adminKey, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  const statusOf = async (requestId: string) =>
    ((await (await fetch(`${gateway.url}/requests/${requestId}`)).json()) as { status: string }).status;

  /** Makes a journey at both sizes, each from the front page; at most three clicks, and no complaint of the page. */
  function journey(name: string, go: (visit: Visit) => Promise<void>) {
    test.each([
      [1280, 900, 'light'],
      [390, 844, 'dark'],
    ] as const)(`${name}, at %i px`, async (width, height, colorScheme) => {
      const { page, complaints } = await openConsole(browser, gateway);
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      let clicks = 0;
      await go({
        page,
        async click(place) {
          clicks++;
          await place.click();
        },
        async search(what) {
          await page.keyboard.press('/');
          await page.keyboard.type(what);
          await page.keyboard.press('Enter');
        },
        clicks: () => clicks,
      });
      console.log(`${name}, at ${width} px: ${clicks} clicks`);
      expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
      expect(complaints).toEqual([]);
      await page.close();
    });
  }

  const view = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  // Shows CONSOLE-4.
  journey('find by each kind of key', async ({ page, search }) => {
    const story = page.getByRole('heading', { name: 'Story' });
    await search(filled.done);
    await story.waitFor();
    await search(filled.failed.slice(0, 20));
    await page.getByText('Why it failed').waitFor();
    await search(SIGNER.toLowerCase());
    await page.getByRole('button', { name: 'Without Signer' }).waitFor();
    await search(TX.toUpperCase().replace('0X', '0x'));
    await story.waitFor();
    expect(page.url()).toContain(filled.done);
    await search(PAYMENT);
    await page.getByText('Why it is held').waitFor();
    await search('eu-1');
    await page.getByRole('region', { name: 'Relayer eu-1' }).waitFor();
    await search('nothing-of-this-name');
    await page.getByText(/Nothing is found for/).waitFor();
  });

  // Shows CONSOLE-2, CONSOLE-4.
  journey('why did it fail', async ({ page, click }) => {
    await click(page.getByRole('link', { name: /^Success, last hour/ }));
    await click(page.locator(`a.row-link[href$="${filled.failed}"]`));
    await page.getByText('The contract said: Core: cloud is locked').waitFor();
  });

  // Shows CONSOLE-2.
  journey('why is it not carried out', async ({ page, click }) => {
    await click(page.getByRole('link', { name: /^Pending/ }));
    await click(page.locator(`a.row-link[href$="${filled.left}"]`));
    await page.getByText(/It waits for gas at a price that its fee pays/).waitFor();
  });

  // Shows CONSOLE-2.
  journey('which relayer is slow', async ({ page, click }) => {
    await click(view(page, 'Relayers'));
    await page
      .getByRole('region', { name: 'Relayer eu-1' })
      .getByRole('img', { name: /^p95: \d/ })
      .waitFor();
  });

  // Shows CONSOLE-2.
  journey('suspend and resume', async ({ page, click }) => {
    await click(view(page, 'Relayers'));
    await click(button(page, 'Acts on eu-1'));
    await click(page.getByRole('menuitem', { name: 'Suspend' }));
    await page.keyboard.press('Tab');
    await page.getByLabel('Why, which it is shown').focus();
    await page.keyboard.type('reports too late');
    await page.keyboard.press('Enter');
    await page.getByText(/Suspended .* by key .*: reports too late/).waitFor();
    await expect(callAsRelayer(gateway, 'PATCH', `/requests/${filled.left}`, { status: 'processing' })).rejects.toThrow(
      '401',
    );
    // Another visit, which begins where this one is.
    await button(page, 'Acts on eu-1').click();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Done: Resume.').waitFor();
  });

  // Shows CONSOLE-2.
  journey('release', async ({ page, click, search }) => {
    const requestId = await submitRequest(gateway, CHAIN);
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
    await search(requestId);
    await click(button(page, 'Release'));
    await click(page.getByRole('dialog').getByRole('button', { name: 'Release' }));
    await page.getByText('Given back by an administrator').waitFor();
    expect(await statusOf(requestId)).toBe('pending');
  });

  // Shows CONSOLE-2.
  journey('end it as failed, and remove it', async ({ page, click, search }) => {
    const requestId = await submitRequest(gateway, CHAIN);
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
    await search(requestId);
    await click(button(page, 'Fail'));
    await page.getByLabel('Why, which the user sees').fill('the relayer is gone');
    await page.keyboard.press('Enter');
    await page.getByText('Ended as failed by an administrator').waitFor();
    await click(button(page, 'Remove for good'));
    await click(page.getByRole('dialog').getByRole('button', { name: 'Remove for good' }));
    await page.getByText('Done: Remove for good.').waitFor();
    expect((await fetch(`${gateway.url}/requests/${requestId}`)).status).toBe(404);
  });

  // Shows CONSOLE-2.
  journey('put back', async ({ page, click, search }) => {
    const requestId = await submitRequest(gateway, CHAIN);
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'failed', errorMessage: 'a lie' });
    await administer('POST', `/admin/relayers/${filled.address}/suspend`, { reason: 'it lies' });
    await search(requestId);
    await click(button(page, 'Put back to pending'));
    await click(page.getByRole('dialog').getByRole('button', { name: 'Put back to pending' }));
    await page.getByText('Put back to pending by an administrator').waitFor();
    expect(await statusOf(requestId)).toBe('pending');
    await administer('POST', `/admin/relayers/${filled.address}/resume`);
  });

  // Shows WEBHOOK-8.
  journey("a webhook's failed deliveries sent again", async ({ page, click }) => {
    let status = 500;
    const taken: unknown[] = [];
    const receiver = createServer((request, response) => {
      if (status === 204) taken.push(request.headers['webhook-id']);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    // A listening TCP server has an AddressInfo.
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const added = await administer('POST', '/admin/webhooks', { url, events: ['request.created'], label: 'shop' });
    const { webhookId } = (await added.json()) as { webhookId: string };
    const requestId = await submitRequest(gateway, CHAIN);
    const read = async () => {
      const answer = await administer('GET', `/admin/webhooks/${webhookId}/deliveries?requestId=${requestId}`);
      return ((await answer.json()) as { items: { status: string; attempts: number }[] }).items[0];
    };
    await expect.poll(async () => (await read())?.attempts).toBeGreaterThan(0);
    // A day of attempts later: the next one is its last.
    const database = new DatabaseSync(join(gateway.dataDir, 'gateway-dev.db'), { timeout: 5000 });
    const deliveries = '"service-requests-dev.deliveries"';
    database.exec(`UPDATE ${deliveries} SET first_failed_at = first_failed_at - ${DAY_MS}, attempts = 19`);
    database.close();
    await expect.poll(async () => (await read())?.status).toBe('failed');
    status = 204;
    await page
      .getByRole('link', { name: /webhook to .* fails/ })
      .first()
      .waitFor();
    await click(page.getByRole('link', { name: /webhook to .* fails/ }).first());
    await page.getByText('Deliveries').first().waitFor();
    await click(button(page, 'Send all failed again'));
    await expect.poll(() => taken.length).toBe(1);
    await administer('DELETE', `/admin/webhooks/${webhookId}`);
    receiver.closeAllConnections();
    receiver.close();
  });

  // Shows CONSOLE-5.
  journey('a payment held and released', async ({ page, click }) => {
    filled.paying.released = false;
    await click(view(page, 'Payments'));
    await click(page.getByRole('link', { name: PAYMENT }));
    await page.getByText(`npx prism payments release ${PAYMENT} --who NAME --why 'REASON'`).waitFor();
    // As that command has it.
    filled.paying.released = true;
    await submitRequest(gateway, CHAIN);
    await page.getByText('Ann has released it').waitFor();
    await page.getByText('Why it is given back').waitFor();
  });

  // Shows CONSOLE-6.
  journey("a customer's link opened in a new tab", async ({ page }) => {
    const [tab] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate<void>(`void window.open(${JSON.stringify(`${gateway.url}/console/requests/${filled.done}`)})`),
    ]);
    await tab.getByText('Fee raised, time 1').waitFor();
    const story = await tab.locator('.timeline strong').allInnerTexts();
    expect(story).toEqual([
      'Posted',
      'Claimed by eu-1',
      'Found fit to be carried out by eu-1',
      'Submitted by eu-1',
      'Fee raised, time 1',
      'Mined in block 4711',
      'Confirmed',
      'Reported as success',
    ]);
    await tab.close();
  });
});
