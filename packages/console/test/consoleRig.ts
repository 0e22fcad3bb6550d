import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserRig, RunningGateway } from '@prism-gateway/testing';

/** A page of the browser. */
export type Page = Awaited<ReturnType<BrowserRig['context']['newPage']>>;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where screenshots are kept: `CONSOLE_SCREENSHOTS=docs/console npm test`. */
const { CONSOLE_SCREENSHOTS: screenshots } = process.env;

/** The chain that requests are of unless a test says otherwise. */
export const CHAIN = 'eip155:1';

/** A signer of requests in tests. */
export const SIGNER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** What axe looks at in each scheme, the one that is left last: but for colours, once is enough. */
const RULES = [
  ['dark', "{ runOnly: ['color-contrast'] }"],
  ['light', ''],
] as const;

/** The violations that axe finds on the page, dark and light. */
export async function findBarriers(page: Page): Promise<string[]> {
  const found: string[] = [];
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  for (const [colorScheme, rules] of RULES) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      `axe.run(${rules})`,
    );
    for (const { id, nodes } of violations)
      found.push(`${colorScheme}, ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }
  return found;
}

/** Keeps a screenshot, if one is wanted. */
export async function keep(page: Page, name: string): Promise<void> {
  if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** Most steps of Tab through a page; it has some forty places. */
const MOST_STEPS = 300;

/** A place of a page that can have the focus. */
export type Place = ReturnType<Page['getByRole']>;

/** Goes from place to place by Tab, as somebody without a pointer does. */
export async function reach(place: Place): Promise<void> {
  await place.waitFor();
  const { keyboard } = place.page();
  // So many at once, rather than to ask after each if one is.
  const ahead = await place.evaluate((element) => {
    const within = element.closest('dialog') ?? element.ownerDocument;
    const places = [...within.querySelectorAll('a[href], button:enabled, input, select, textarea')];
    const shown = places.filter((one) => one.checkVisibility());
    const current = element.ownerDocument.activeElement;
    return shown.indexOf(element) - shown.indexOf(current);
  });
  for (let step = 0; step < ahead; step++) await keyboard.press('Tab');
  for (let step = 0; step < MOST_STEPS; step++) {
    if (await place.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await keyboard.press('Tab');
  }
  throw new Error(`No Tab leads to ${place}.`);
}

/** The console as somebody sees it who has the key. */
export interface OpenConsole {
  readonly page: Page;
  /** Errors and refused loads of the page. */
  readonly complaints: readonly string[];
}

/** Opens the console, and enters a key, the administrator's unless another is given. */
export async function openConsole(
  { context }: BrowserRig,
  gateway: RunningGateway,
  key = gateway.adminKey,
): Promise<OpenConsole> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('response', (answer) => answer.status() >= 400 && complaints.push(`${answer.status()} ${answer.url()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${gateway.url}/console`);
  await page.getByLabel('Admin key').fill(key);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  return { page, complaints };
}

async function send(gateway: RunningGateway, method: string, path: string, json?: unknown, headers = {}) {
  const body = json === undefined ? {} : { body: typeof json === 'string' ? json : JSON.stringify(json) };
  const type = json === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.url}${path}`, { method, headers: { ...type, ...headers }, ...body });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

const paramsWith = (payload: string) => ({
  ...{ cloudId: '0x01', dataId: '0x02', payload, relayerFee: '1500000000000000000', v: 27 },
  ...{ timestamp: '1767225600', signer: SIGNER, r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}` },
});

/** Stores a request. @returns its id */
export async function submitRequest(gateway: RunningGateway, chainName: string): Promise<string> {
  const params = paramsWith('0x68656c6c6f');
  const { requestId } = await send(gateway, 'POST', '/requests', { chainName, action: 'WRITE_DATA_FOR', params });
  return String(requestId);
}

/**
 * Has everybody write a text wherever they may: a user, a relayer, and an administrator who copies what others wrote.
 *
 * @returns id of the request that has it
 */
export async function plantText(gateway: RunningGateway, text: string): Promise<string> {
  const address = await readRelayer(gateway);
  const administer = (path: string, json: unknown) =>
    send(gateway, 'POST', path, json, { 'x-admin-key': gateway.adminKey });
  await administer('/admin/relayers', { address, label: text });
  const params = paramsWith(`0x${Buffer.from(text).toString('hex')}`);
  const json = { chainName: 'eip155:7', action: 'WRITE_DATA_FOR', params };
  const requestId = String((await send(gateway, 'POST', '/requests', json)).requestId);
  await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
  await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'failed', errorMessage: text });
  await administer(`/admin/relayers/${address}/suspend`, { reason: text });
  const url = `http://127.0.0.1:1/?${encodeURIComponent(text)}`;
  await administer('/admin/webhooks', { url, events: ['request.failed'], label: text });
  return requestId;
}

/** Calls as the development relayer. @returns the answer, and who it is */
export async function callAsRelayer(gateway: RunningGateway, method: string, path: string, json: unknown) {
  const body = JSON.stringify(json);
  const { headers } = await send(gateway, 'POST', '/dev/relayer/sign', { method, path, body });
  return await send(gateway, method, path, body, headers as Record<string, string>);
}

/** The development relayer's address. */
export async function readRelayer(gateway: RunningGateway): Promise<string> {
  const { headers } = await send(gateway, 'POST', '/dev/relayer/sign', { method: 'GET', path: '/requests' });
  return String((headers as Record<string, unknown>)['x-relayer-address']);
}
