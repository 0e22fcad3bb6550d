import { execFileSync } from 'node:child_process';
import { findChromium } from './openBrowser.ts';

/** Gets a Chromium from the distribution if the machine has none and tests as root, as in CI; elsewhere it does nothing. */
export function installChromium(): void {
  if (findChromium() !== undefined || process.getuid?.() !== 0) return;
  try {
    execFileSync('apt-get', ['update'], { stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { stdio: 'ignore' });
  } catch {
    // No such distribution, or no network: who needs the browser says so.
  }
}

/**
 * Before the tests in a browser: with `REQUIRE_BROWSER=true` there has to be one; else they are skipped if there is none.
 *
 * @throws Error if one is required, and can be neither found nor installed
 */
export function setup(): void {
  if (process.env.REQUIRE_BROWSER !== 'true') return;
  installChromium();
  if (findChromium() === undefined) throw new Error('There is no Chromium: install one, or name it by CHROMIUM_PATH.');
}
