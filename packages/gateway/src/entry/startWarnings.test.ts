import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answersAdminLocally } from './answersAdminLocally.ts';
import { parseSettings } from './settings.ts';
import { findStartWarnings } from './startWarnings.ts';

const prod = (more: Record<string, string> = {}) =>
  parseSettings({
    STAGE: 'prod',
    ADMIN_API_KEY: randomBytes(32).toString('hex'),
    IDENTITY_ISSUER: 'https://id.example',
    IDENTITY_APP_ID: 'app',
    PUBLIC_URL: 'https://gateway.example',
    // The folder of this checkout may hold what `npm start` has left there.
    DATA_DIR: join(tmpdir(), `prism-none-${randomBytes(8).toString('hex')}`),
    ...more,
  });
const warningsOf = (more?: Record<string, string>) => findStartWarnings(prod(more));

// Shows OPERATE-7.
test.each([
  [{ ADMIN_API_KEY: 'a'.repeat(40) }, 'ADMIN_API_KEY can be guessed'],
  [{ ADMIN_API_KEY: 'password'.repeat(5) }, 'ADMIN_API_KEY can be guessed'],
  [{ CURSOR_SECRET: '1234'.repeat(10) }, 'CURSOR_SECRET can be guessed'],
  [{ PUBLIC_URL: 'http://gateway.example' }, 'PUBLIC_URL is http'],
  [{ IDENTITY_PROVIDER: 'privy' }, 'IDENTITY_PROVIDER=privy'],
  [{ RATE_LIMIT_WRITES: '0' }, 'RATE_LIMIT_WRITES is 0'],
  [{ MIN_FREE_DISK_BYTES: '0' }, 'MIN_FREE_DISK_BYTES is 0'],
])('%j is reported in prod, with what to do', (more, start) => {
  const warnings = warningsOf(more);
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${start}.*: .+`))]);
  for (const value of Object.values(more)) if (value.length > 10) expect(warnings.join()).not.toContain(value);
});

test('keys drawn by lot are never told, and dev is told nothing', () => {
  for (let i = 0; i < 200; i++)
    expect(warningsOf({ CURSOR_SECRET: randomBytes(24).toString('base64url') })).toEqual([]);
  expect(findStartWarnings(parseSettings({ RATE_LIMIT_WRITES: '0' }))).toEqual([]);
});

test.each([
  ['prod', 'dev'],
  ['dev', 'prod'],
])('%s learns of a database of %s in its DATA_DIR', (stage, other) => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'stages-'));
  const settings = stage === 'prod' ? prod({ DATA_DIR }) : parseSettings({ DATA_DIR });
  expect(findStartWarnings(settings)).toEqual([]);
  writeFileSync(join(DATA_DIR, `gateway-${other}.db`), '');
  expect(findStartWarnings(settings)).toEqual([expect.stringContaining(`database of STAGE=${other}`)]);
  rmSync(DATA_DIR, { recursive: true });
});

// Shows OPERATE-6.
test.each([
  [{ HOST: '0.0.0.0' }, true],
  [{ HOST: '::' }, true],
  [{ HOST: '203.0.113.5' }, true],
  [{ HOST: '0.0.0.0', ADMIN_API_KEY: 'a-key-of-mine' }, false],
  [{ HOST: '127.0.0.1' }, false],
  [{ HOST: '::1' }, false],
  [{ HOST: 'localhost' }, false],
])('%j: administrators are answered locally alone: %s', (environment, expected) => {
  expect(answersAdminLocally(parseSettings(environment))).toBe(expected);
});
