import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findChromium, openBrowser } from '@prism-gateway/testing';
import { expect, inject, it } from 'vitest';
import { type AppFolder, createApp } from './rig/createApp.ts';

const chromium = findChromium();
const TEMPLATE = ['create-vite@9.3.0', '.', '--template', 'vanilla-ts', '--no-interactive'];

/** Serves what was built, as its author would look at it. */
async function startPreview(app: AppFolder): Promise<AsyncDisposable & { readonly url: string }> {
  const vite = join(app.path, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'preview', '--host', '127.0.0.1', '--port', '0'];
  const child = spawn(process.execPath, args, { cwd: app.path, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it prints colours.
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(line.replaceAll(/\u001b\[\d+m/g, ''))?.[0];
    if (url !== undefined) return { url, [Symbol.asyncDispose]: stop };
  }
  throw new Error('The preview ended before it said where it is.');
}

it('is built into the stock Vite and TypeScript page with one copy of viem', async () => {
  using app = createApp();
  await app.run('npx', '--yes', ...TEMPLATE);
  await app.install('viem@2.57.1', ...inject('tarballs'));
  copyFileSync(join(import.meta.dirname, 'apps/main.ts'), join(app.path, 'src/main.ts'));
  await app.run('npm', 'run', 'build');
  expect(app.countCopies('viem')).toBe(1);
  if (chromium === undefined) {
    if (process.env.REQUIRE_BROWSER === 'true') throw new Error('There is no Chromium to open the page in.');
    return console.warn('There is no Chromium here: the page is built, but not opened.');
  }
  await using preview = await startPreview(app);
  const browser = await openBrowser(chromium);
  try {
    const page = await browser.context.newPage();
    await page.goto(`${preview.url}#${encodeURIComponent(JSON.stringify(inject('settings')[0]))}`);
    const said = await page.locator('output').textContent({ timeout: 120_000 });
    expect(JSON.parse(said ?? '')).toEqual({ status: 'success', payload: '0x68656c6c6f' });
  } finally {
    await browser.close();
  }
});
