import { ROUTES } from '@prism-gateway/protocol';
import { type BrowserRig, findChromium, openBrowser, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const chromium = findChromium();

/** A browser's errors, and its requests to other hosts. */
interface Watch {
  readonly complaints: readonly string[];
  readonly requests: readonly string[];
}

type Page = Awaited<ReturnType<BrowserRig['context']['newPage']>>;

function watchPage(page: Page): Watch {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  // A refusal of the page's policy is such an error too.
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('request', (request) => requests.push(request.url()));
  return { complaints, requests };
}

const operation = (page: Page, tag: string, operationId: string) => page.locator(`#operations-${tag}-${operationId}`);

/** Tries an operation with what the page proposes. @returns the status that the page shows */
async function tryOperation(page: Page, tag: string, operationId: string): Promise<string> {
  const block = operation(page, tag, operationId);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  await block.locator('.execute').click();
  return (await block.locator('.live-responses-table .response-col_status').last().textContent()) ?? '';
}

const name = 'the API reference in a browser (set CHROMIUM_PATH where none is found)';

describe.skipIf(chromium === undefined)(name, () => {
  let gateway: RunningGateway;
  let browser: BrowserRig;

  beforeAll(async () => {
    [gateway, browser] = await Promise.all([startGateway(), openBrowser(chromium ?? '')]);
  });
  afterAll(async () => {
    await Promise.all([gateway?.stop(), browser?.close()]);
  });

  async function openReference(size = { width: 1280, height: 800 }) {
    const page = await browser.context.newPage();
    await page.setViewportSize(size);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const watch = watchPage(page);
    await page.goto(`${gateway.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return { page, watch };
  }

  it('shows every route, asks no other host, and keeps to its policy', async () => {
    const { page, watch } = await openReference();
    expect(await page.locator('.opblock').count()).toBeGreaterThan(Object.keys(ROUTES).length);
    const contents = ['Prism Gateway', 'Errors', 'Relayer authentication', 'Requests', 'Storage', 'Development'];
    expect(await page.locator('#contents button').allInnerTexts()).toEqual(expect.arrayContaining(contents));
    const isOwn = (url: string) => url.startsWith(`${gateway.url}/`) || url.startsWith('data:');
    expect(watch.requests.filter((url) => !isOwn(url))).toEqual([]);
    expect(watch.complaints).toEqual([]);
    // The watch itself must see a breach. In text, since it runs in the page.
    await page.evaluate("document.head.append(Object.assign(document.createElement('style'), { textContent: 'a{}' }))");
    await expect.poll(() => watch.complaints.join()).toContain('Content Security Policy');
    await page.close();
  });

  it('lets a reader try calls, and gets the token and the key that they need', async () => {
    const { page, watch } = await openReference();
    expect(await tryOperation(page, 'Requests', 'createRequest')).toBe('201');
    expect(watch.requests.at(-1)).toBe(`${gateway.url}/requests`);
    const answer = operation(page, 'Requests', 'createRequest').locator('.live-responses-table');
    expect(await answer.textContent()).toContain('"status": "pending"');

    expect(await tryOperation(page, 'Relayer_whitelist', 'listRelayers')).toBe('401');
    await page.getByRole('button', { name: 'Use it', exact: true }).click();
    const whitelist = operation(page, 'Relayer_whitelist', 'listRelayers');
    await whitelist.locator('.execute').click();
    await whitelist.locator('.live-responses-table .response-col_status', { hasText: '200' }).first().waitFor();

    await page.getByRole('button', { name: 'Get a token and use it' }).click();
    await page.getByText('Calls now carry a token of alice').waitFor();
    expect(await tryOperation(page, 'Storage', 'signStorage')).toBe('200');
    // The one 401 on the way is all that the browser complains of.
    expect(watch.complaints).toEqual([expect.stringContaining('401')]);
    await page.close();
  });

  // Shows OPERATE-9.
  it('lets a reader claim and report as the development relayer', async () => {
    const { page, watch } = await openReference();
    const posted = await fetch(`${gateway.url}/requests`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ chainName: 'eip155:1', action: 'WRITE_DATA_FOR' },
        params: {
          ...{ cloudId: '0x01', dataId: '0x02', payload: '0x', relayerFee: '0', timestamp: '1767225600', v: 27 },
          ...{ signer: `0x${'7'.repeat(40)}`, r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}` },
        },
      }),
    });
    const { requestId } = (await posted.json()) as { requestId: string };
    await page.getByRole('button', { name: 'Call as the development relayer' }).click();
    await page.getByText('is on the whitelist, and signs the relayer calls that you try').waitFor();
    const update = operation(page, 'Requests', 'updateRequest');
    await update.locator('.opblock-summary-control').click();
    await update.locator('.try-out__btn').click();
    await update.locator('tr[data-param-name="requestId"] input').fill(requestId);
    const send = async (body: unknown) => {
      await update.locator('.body-param__text').fill(JSON.stringify(body));
      await update.locator('.execute').click();
    };
    await send({ status: 'processing' });
    await update.locator('.live-responses-table', { hasText: '"status": "processing"' }).waitFor();
    await send({ status: 'success', txHash: `0x${'a'.repeat(64)}` });
    await update.locator('.live-responses-table', { hasText: '"status": "success"' }).waitFor();
    expect(watch.complaints).toEqual([]);
    await page.close();
  });

  it('is usable at 390 px', async () => {
    const { page } = await openReference({ width: 390, height: 844 });
    await page.getByText('Contents', { exact: true }).click();
    await page.locator('#contents button', { hasText: 'Relayer whitelist' }).click();
    expect(await tryOperation(page, 'Requests', 'createRequest')).toBe('201');
    // What scrolls by itself may be wider.
    const stray = await page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .filter((one) => {
        for (let box = one.parentElement; box !== null; box = box.parentElement)
          if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return false;
        return true;
      })
      .map((one) => one.outerHTML.slice(0, 150))`);
    expect(stray).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.close();
  });

  // Shows OPERATE-8.
  it('has a page before it that leads to it', async () => {
    const page = await browser.context.newPage();
    const watch = watchPage(page);
    await page.goto(gateway.url);
    for (const name of ['Console', 'openapi.json', 'health', 'ready', 'API reference']) {
      const link = page.getByRole('link', { name });
      const address = new URL((await link.getAttribute('href')) ?? '', `${gateway.url}/`);
      expect([name, (await fetch(address)).status]).toEqual([name, 200]);
    }
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.locator('.opblock').first().waitFor();
    expect(watch.complaints).toEqual([]);
    await page.close();
  });
});
