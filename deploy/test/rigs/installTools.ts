import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Debian's packages that the tests of `deploy/` use, each with a file of it. */
const TOOLS: Readonly<Record<string, string>> = {
  'nginx-light': '/usr/sbin/nginx',
  prometheus: '/usr/bin/promtool',
  systemd: '/usr/bin/systemd-analyze',
  buildah: '/usr/bin/buildah',
  mmdebstrap: '/usr/bin/mmdebstrap',
};

/** A machine that tests as root, as in CI, gets its tools from the distribution, if `DEPLOY_TOOLS` says `install`. */
export function setup(): void {
  const missing = Object.entries(TOOLS).filter(([, file]) => !existsSync(file));
  if (process.env.DEPLOY_TOOLS !== 'install' || missing.length === 0 || process.getuid?.() !== 0) return;
  const names = missing.map(([name]) => name);
  // Nothing that is installed for a test shall serve afterwards.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    execFileSync('apt-get', ['update'], { stdio: 'ignore', env });
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], { stdio: 'ignore', env });
  } catch {
    // No such distribution, or no network: each test says what it misses.
  }
}
