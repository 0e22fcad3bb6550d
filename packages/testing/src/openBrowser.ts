import { existsSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';

/** Where distributions put Chromium. */
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Nothing but what a test asks for goes over the network; and without a display, or rights to a sandbox. */
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-sync',
  '--no-first-run',
  '--no-sandbox',
];

/** A bound for what hangs, in milliseconds: under load a page takes many times as long as on an idle machine. */
const HANG_MS = 120_000;

/** Finds a Chromium: `CHROMIUM_PATH`, or one of the usual places. @returns undefined if there is none */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH } = process.env;
  return [...(CHROMIUM_PATH === undefined ? [] : [CHROMIUM_PATH]), ...USUAL_PLACES].find((path) => existsSync(path));
}

export interface BrowserRig {
  /** A browser profile of its own, empty. */
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/**
 * Starts a headless browser.
 *
 * @param executablePath - what `findChromium` found
 */
export async function openBrowser(executablePath: string): Promise<BrowserRig> {
  // It takes half a second of a core to load, and nearly every file of tests would.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(HANG_MS);
  return { context, close: () => browser.close() };
}
