import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const doctor = fileURLToPath(new URL('./doctor.ts', import.meta.url));

// Shows SETTING-5.
test.each([
  [{ HOST: '127.0.0.1' }, true],
  [{ HOST: '0.0.0.0' }, false],
  [{ HOST: '127.0.0.1', TRUSTED_PROXY_HOPS: '1', ALLOW_DEV_IN_PUBLIC: 'true' }, false],
])('a development gateway with %j is well exposed: %s', (more, ok) => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'doctor-'));
  const env = { PATH: process.env.PATH, DATA_DIR, PORT: '0', ...more };
  const { stdout } = spawnSync(process.execPath, [doctor, '--json'], { env, encoding: 'utf8' });
  const { findings } = JSON.parse(stdout) as { findings: readonly { check: string; ok: boolean; advice: string }[] };
  expect(findings.filter(({ check }) => check === 'exposure')).toMatchObject([
    { ok, advice: ok ? '' : 'Set STAGE=prod.' },
  ]);
  rmSync(DATA_DIR, { recursive: true });
});
