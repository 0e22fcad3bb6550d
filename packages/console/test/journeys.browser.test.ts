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
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callAsRelayer,
  findBarriers,
  keep,
  openConsole,
  type Page,
  type Place,
  reach,
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
    WEBHOOKS_ALLOW_PRIVATE: 'true',
    RATE_LIMIT_CLAIMS: '6000',
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

/** How somebody reaches what is on the page. */
interface Hand {
  press(place: Place): Promise<void>;
  fill(place: Place, text: string): Promise<void>;
}

const pointer: Hand = { press: (place) => place.click(), fill: (place, text) => place.fill(text) };

const keys: Hand = {
  async press(place) {
    await reach(place);
    await place.page().keyboard.press('Enter');
  },
  async fill(place, text) {
    await reach(place);
    await place.page().keyboard.press('ControlOrMeta+A');
    await place.page().keyboard.type(text);
  },
};

/** What is done on the page, by either hand. */
function createPlayer(page: Page, hand: Hand) {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  return {
    fill: (label: string, text: string) => hand.fill(page.getByLabel(label), text),
    press: (name: string) => hand.press(button(name)),
    act: (name: string) => hand.press(inDialog(name)),
    async find(what: string): Promise<void> {
      await hand.fill(page.getByLabel('Find by id, signer or transaction'), what);
      await page.keyboard.press('Enter');
    },
    /** Does what a dialog asks about, after a reason where it wants one. */
    async confirm(word: string, reason?: string): Promise<void> {
      if (reason !== undefined) await hand.fill(page.getByRole('dialog').getByRole('textbox'), reason);
      await hand.press(inDialog(word));
      await page.getByText(`Done: ${word}.`).waitFor();
    },
  };
}

// What the page does is the same on both; what a store answers, its contract shows.
const stores = ['sqlite', 'dynamodb'] as const;

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
    // Once with the keyboard alone, and once with the pointer.
    const player = createPlayer(page, store === 'sqlite' ? keys : pointer);
    const claimOne = async () => {
      const requestId = await submitRequest(gateway, CHAIN);
      await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
      return requestId;
    };

    await player.press('Relayers');
    await player.fill('Address', address);
    await player.fill('Label', 'eu-1');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor();

    // A story moves while it is looked at, and says what a relayer says.
    const waiting = await submitRequest(gateway, CHAIN);
    relayerStatus.chains = [{ waiting: [{ requestId: waiting, verdict: 'early', waitsFor: 'the priority window' }] }];
    await player.press('Queue');
    await player.find(waiting);
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
    await player.act('Close');

    await player.find(TX_HASH.toUpperCase().replace('0X', '0x'));
    await link.waitFor();
    await player.act('Remove for good');
    await player.confirm('Remove for good');
    expect((await fetch(`${gateway.url}/requests/${waiting}`)).status).toBe(404);

    const released = await claimOne();
    await player.find(released);
    await player.act('Release');
    await player.confirm('Release');
    await player.find(SIGNER.toLowerCase());
    await page.getByRole('button', { name: `Show ${released}` }).waitFor();

    const failed = await claimOne();
    await player.press(`Show ${failed}`);
    await player.act('Fail');
    await player.confirm('Fail', 'the relayer is gone');
    await player.find(failed);
    await page.getByText('the relayer is gone').waitFor();
    await player.act('Close');

    const held = await claimOne();
    await player.press('Relayers');
    await player.press(`Release all ${address}`);
    await player.confirm('Release all');
    expect(await (await fetch(`${gateway.url}/requests/${held}`)).json()).toMatchObject({ status: 'pending' });
    await player.press(`Suspend ${address}`);
    await player.confirm('Suspend', 'reports too late');
    await page.getByText('suspended: reports too late').waitFor();
    await page.getByRole('cell', { name: '0 of 1000' }).waitFor();
    await expect(claimOne()).rejects.toThrow('401');
    if (store === 'sqlite') await keep(page, 'relayers');
    await player.press(`Resume ${address}`);
    await player.confirm('Resume');
    await claimOne();
    await player.press(`Remove ${address}`);
    await player.confirm('Remove');
    await page.getByRole('cell', { name: 'eu-1' }).waitFor({ state: 'detached' });

    await player.press('Service');
    await page.getByText('No status: it does not answer.').waitFor();
    await page.getByRole('cell', { name: 'admin-failures' }).waitFor();
    await page.getByRole('row', { name: new RegExp(`relayer:${address.toLowerCase()} claims \\d+ 6000`) }).waitFor();
    await page.getByRole('row', { name: /^connections \d+ 12000/ }).waitFor();
    await page.getByText(/GB; below 0\.5 GB nothing new is taken/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    if (store === 'sqlite') await keep(page, 'service');
    await player.press('Audit');
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

  // Shows CONSOLE-2, WEBHOOK-8.
  test.skipIf(isMissing)('of webhooks: registered, their deliveries shown and sent again, and removed', async () => {
    const messages: string[] = [];
    const receiver = createServer((request, response) => {
      messages.push(String(request.headers['webhook-id']));
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    // A listening TCP server has an AddressInfo.
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const { gateway, browser } = world;
    const { page, complaints } = await openConsole(browser, gateway);
    await page.getByRole('button', { name: 'Webhooks', exact: true }).click();
    await page.getByLabel('URL').fill(url);
    await page.getByLabel('request.created').check();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText(/whsec_/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByText(/whsec_/).waitFor({ state: 'detached' });
    const requestId = await submitRequest(gateway, 'eip155:7');
    await page.getByRole('button', { name: `Deliveries to ${url}` }).click();
    await page.getByRole('row', { name: new RegExp(`${requestId} delivered`) }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    if (store === 'sqlite') await keep(page, 'webhooks');
    await page.getByRole('button', { name: /^Send again / }).click();
    await page.getByText(/Sent once more/).waitFor();
    await expect.poll(() => messages.length, { timeout: 30_000 }).toBe(2);
    expect(new Set(messages).size).toBe(1);
    for (const word of ['Disable', 'Enable', 'New secret', 'Remove']) {
      await page.getByRole('button', { name: `${word} ${url}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: word }).click();
      // What the page says is seen with a failure.
      await expect.poll(() => page.getByRole('status').textContent()).toBe(`Done: ${word}.`);
    }
    await page.getByRole('cell', { name: url, exact: true }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await page.close();
    receiver.closeAllConnections();
    receiver.close();
  });
});
