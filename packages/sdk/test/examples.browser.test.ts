import { type BrowserRig, findChromium, openBrowser } from '@prism-gateway/testing';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from './startStack.ts';

const chromium = findChromium();

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  await stack.run(['examples/node/relayer.ts']).waitFor(/^Relaying as/);
});
afterAll(async () => {
  await stack?.stop();
});

/** A wallet in the browser: what it is asked goes to a key that the page never sees. */
async function injectWallet({ context }: BrowserRig, account: PrivateKeyAccount): Promise<string[]> {
  const methods: string[] = [];
  await context.exposeFunction('askWallet', async (method: string, params: readonly [string, string]) => {
    methods.push(method);
    if (method === 'eth_requestAccounts') return [account.address];
    // It is on another chain, until it is switched.
    if (method === 'eth_chainId') return methods.includes('wallet_switchEthereumChain') ? '0x7a69' : '0x1';
    if (method === 'wallet_switchEthereumChain') return null;
    if (method === 'eth_signTypedData_v4') return await account.signTypedData(JSON.parse(params[1]));
    throw new Error(`unexpected ${method}`);
  });
  // In text, since it runs in the page.
  await context.addInitScript('window.ethereum = { request: ({ method, params }) => askWallet(method, params) }');
  return methods;
}

const name = 'the example page in a browser (set CHROMIUM_PATH where none is found)';

describe.skipIf(chromium === undefined)(name, () => {
  let url: string;
  let browser: BrowserRig;
  beforeAll(async () => {
    const server = stack.run(['examples/browser/serve.ts']);
    const listening = server.waitFor(/^Open (http:\S+)/);
    [url, browser] = await Promise.all([listening.then((match) => match[1] ?? ''), openBrowser(chromium ?? '')]);
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function openPage() {
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(url);
    await page.locator('#write:enabled').waitFor();
    return { page, complaints };
  }

  it('writes to the chain with a key of its own, and keeps an encrypted object', async () => {
    const { page, complaints } = await openPage();
    await page.locator('#text').fill('A note of mine');
    await page.locator('#write').click();
    await page.locator('#written', { hasText: 'read back from the chain' }).waitFor();
    expect(await page.locator('#written').textContent()).toMatch(/^A note of mine\n\nread back .* 0x[0-9a-f]{64}$/);
    await page.locator('#keep').click();
    await page.locator('#kept', { hasText: 'decrypted from' }).waitFor();
    expect(await page.locator('#kept').textContent()).toMatch(/^A note of mine\n\ndecrypted from 43 stored bytes/);
    expect(complaints).toEqual([]);
  });

  it("signs with the browser's own wallet", async () => {
    const account = privateKeyToAccount(`0x${'5e'.repeat(32)}`);
    const methods = await injectWallet(browser, account);
    const { page, complaints } = await openPage();
    await page.locator('#injected').check();
    await page.locator('#account', { hasText: account.address }).waitFor();
    await page.locator('#write').click();
    await page.locator('#written', { hasText: 'read back from the chain' }).waitFor();
    // Once for the account and for the chain, then for the permit and for the request.
    const prompts = [
      'eth_requestAccounts',
      'wallet_switchEthereumChain',
      'eth_signTypedData_v4',
      'eth_signTypedData_v4',
    ];
    expect(methods.filter((method) => method !== 'eth_chainId')).toEqual(prompts);
    expect(complaints).toEqual([]);
  });
});
