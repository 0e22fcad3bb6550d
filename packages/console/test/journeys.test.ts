import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BrowserRig,
  findChromium,
  missingDynamoEngine,
  openBrowser,
  type RunningGateway,
  startDynamo,
  startGateway,
} from '@prism-gateway/testing';
import { drawSome } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callAsRelayer,
  findBarriers,
  keep,
  openConsole,
  type Page,
  readRelayer,
  SIGNER,
  submitRequest,
} from './consoleRig.ts';

const chromium = findChromium();
const CHAIN = 'eip155:1';
const TX_HASH = `0x${'ab'.repeat(32)}`;

interface World {
  readonly gateway: RunningGateway;
  readonly browser: BrowserRig;
  /** What the relayer says of itself. */
  readonly relayerStatus: { chains: unknown[] };
  close(): Promise<void>;
}

/** A gateway on a store, a relayer's status, and a browser. */
async function openWorld(store: 'sqlite' | 'dynamodb'): Promise<World> {
  const engine = store === 'dynamodb' ? await startDynamo() : undefined;
  const relayerStatus: World['relayerStatus'] = { chains: [] };
  const relayer = createServer((_, outgoing) => void outgoing.end(JSON.stringify(relayerStatus)));
  await new Promise<void>((resolve) => relayer.listen(0, '127.0.0.1', resolve));
  const env = {
    EXPLORER_URLS: `${CHAIN}=https://explorer.example/tx/{hash}`,
    STATUS_URLS: `relayer=http://127.0.0.1:${(relayer.address() as AddressInfo).port}/status,payments=http://127.0.0.1:1/`,
    ...(engine && { STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint }),
  };
  const [gateway, browser] = await Promise.all([startGateway({ env }), openBrowser(chromium ?? '')]);
  return {
    ...{ gateway, browser, relayerStatus },
    async close() {
      await browser.close();
      await gateway.kill();
      relayer.close();
      await engine?.close();
    },
  };
}

const go = (page: Page, view: string) => page.getByRole('button', { name: view, exact: true }).click();

async function find(page: Page, what: string): Promise<void> {
  await page.getByLabel('Find by id, signer or transaction').fill(what);
  await page.keyboard.press('Enter');
}

/** Does what a dialog asks about, after a reason where it wants one. */
async function confirm(page: Page, word: string, reason?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByRole('textbox').fill(reason);
  await dialog.getByRole('button', { name: word, exact: true }).click();
  await page.getByText(`Done: ${word}.`).waitFor();
}

const act = (page: Page, word: string) => page.getByRole('dialog').getByRole('button', { name: word, exact: true });

// What the page does is the same on both; what a store answers, its contract shows.
const stores = drawSome(['sqlite', 'dynamodb'] as const, { of: 'stores of journeys', small: 1 });

describe.skipIf(chromium === undefined).each(stores)('every journey through the console, on %s', (store) => {
  let world: World;
  const isMissing = store === 'dynamodb' && missingDynamoEngine() !== undefined;
  beforeAll(async () => {
    if (!isMissing) world = await openWorld(store);
  });
  afterAll(async () => world?.close());

  // Shows CONSOLE-2, CONSOLE-4, CONSOLE-5.
  test.skipIf(isMissing)('of requests and relayers', async () => {
    const { gateway, browser, relayerStatus } = world;
    const address = await readRelayer(gateway);
    const { page, complaints } = await openConsole(browser, gateway);
    const claimOne = async () => {
      const requestId = await submitRequest(gateway, CHAIN);
      await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
      return requestId;
    };

    await go(page, 'Relayers');
    await page.getByLabel('Address').fill(address);
    await page.getByLabel('Label').fill('eu-1');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor();

    // A story moves while it is looked at, and says what a relayer says.
    const waiting = await submitRequest(gateway, CHAIN);
    relayerStatus.chains = [{ waiting: [{ requestId: waiting, verdict: 'early', waitsFor: 'the priority window' }] }];
    await go(page, 'Queue');
    await find(page, waiting);
    await page.getByText('relayer: early, waits for the priority window').waitFor();
    await page.getByText('1.5 credits').waitFor();
    await page.getByText('5 bytes: “hello”').waitFor();
    await callAsRelayer(gateway, 'PATCH', `/requests/${waiting}`, { status: 'processing' });
    await page.getByText(/Held for/).waitFor();
    await callAsRelayer(gateway, 'PATCH', `/requests/${waiting}`, { status: 'success', txHash: TX_HASH });
    const link = page.getByRole('link', { name: TX_HASH });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(`https://explorer.example/tx/${TX_HASH}`);
    expect(await findBarriers(page)).toEqual([]);
    if (store === 'sqlite') await keep(page, 'request');
    await act(page, 'Close').click();

    await find(page, TX_HASH.toUpperCase().replace('0X', '0x'));
    await link.waitFor();
    await act(page, 'Remove for good').click();
    await confirm(page, 'Remove for good');
    expect((await fetch(`${gateway.url}/requests/${waiting}`)).status).toBe(404);

    const released = await claimOne();
    await find(page, released);
    await act(page, 'Release').click();
    await confirm(page, 'Release');
    await find(page, SIGNER.toLowerCase());
    await page.getByRole('button', { name: `Show ${released}` }).waitFor();

    const failed = await claimOne();
    await page.getByRole('button', { name: `Show ${failed}` }).click();
    await act(page, 'Fail').click();
    await confirm(page, 'Fail', 'the relayer is gone');
    await find(page, failed);
    await page.getByText('the relayer is gone').waitFor();
    await act(page, 'Close').click();

    const held = await claimOne();
    await go(page, 'Relayers');
    await page.getByRole('button', { name: `Release all ${address}` }).click();
    await confirm(page, 'Release all');
    expect(await (await fetch(`${gateway.url}/requests/${held}`)).json()).toMatchObject({ status: 'pending' });
    await page.getByRole('button', { name: `Suspend ${address}` }).click();
    await confirm(page, 'Suspend', 'reports too late');
    await page.getByText('suspended: reports too late').waitFor();
    await expect(claimOne()).rejects.toThrow('401');
    if (store === 'sqlite') await keep(page, 'relayers');
    await page.getByRole('button', { name: `Resume ${address}` }).click();
    await confirm(page, 'Resume');
    await claimOne();
    await page.getByRole('button', { name: `Remove ${address}` }).click();
    await confirm(page, 'Remove');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor({ state: 'detached' });

    await go(page, 'Service');
    await page.getByText('No status: it does not answer.').waitFor();
    await page.getByRole('cell', { name: 'admin-failures' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    if (store === 'sqlite') await keep(page, 'service');
    await go(page, 'Audit');
    await page.getByRole('cell', { name: 'relayers.remove' }).waitFor();
    const acts = await page.locator('tbody tr td:nth-child(2)').allInnerTexts();
    expect(acts).toEqual([
      ...['relayers.remove', 'relayers.resume', 'relayers.suspend', 'relayers.release'],
      ...['requests.fail', 'requests.release', 'requests.purge', 'relayers.add'],
    ]);
    expect(await findBarriers(page)).toEqual([]);
    if (store === 'sqlite') await keep(page, 'audit');
    expect(complaints).toEqual([]);
  });
});
