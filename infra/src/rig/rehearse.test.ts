import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const [script, fake] = ['../../rehearse', 'fakeAws.mjs'].map((path) => join(import.meta.dirname, path));
const SECRETS = { 'arn:admin': 'a'.repeat(48), 'arn:origin': 'o'.repeat(48), 'arn:cursor': 'c'.repeat(48) };
const STEPS = [
  ...['first-deployment', 'failed-first-deployment', 'canary', 'alarms'],
  ...['rotate-admin-key', 'rotate-origin-secret', 'roll-back', 'restore'],
];

/** Rehearses on an account of this machine. @param world - what is wrong with it */
async function rehearse(args: readonly string[], world: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'prism-rehearse-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [state, log, settings] = ['state.json', 'log', 'prod.env'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(state, JSON.stringify({ calls: [], version: 1, secrets: SECRETS, running: SECRETS, ...world }));
  writeFileSync(settings, 'STAGE=prod\nREGION=eu-central-1\n');
  chmodSync(fake ?? '', 0o755);
  for (const name of ['aws', 'curl', 'npm']) symlinkSync(fake ?? '', join(folder, name));
  const env = {
    ...process.env,
    ...{
      PATH: [folder, process.env.PATH].join(delimiter),
      FAKE_AWS_STATE: state,
      REHEARSAL_LOG: log,
      REHEARSAL_PAUSE: '0.1',
    },
  };
  const ended = await promisify(execFile)(script ?? '', ['--settings', settings, '--yes', ...args], { env }).then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  );
  const { calls, secrets } = JSON.parse(readFileSync(state, 'utf8'));
  return { status: ended, log: readFileSync(log, 'utf8'), calls: calls as readonly string[], secrets };
}

describe('the rehearsal on a real account, played on a false one', () => {
  it('plays every step in order, and its log gives nothing away', async () => {
    const { status, log, calls, secrets } = await rehearse([]);
    expect(log.split('\n').slice(-4).join('\n')).toContain('done: ');
    expect(status).toBe(0);
    expect([...log.matchAll(/== ([\w-]+): done/g)].map(([, step]) => step)).toEqual(STEPS);
    for (const secret of [...Object.values(SECRETS), ...(Object.values(secrets) as string[])])
      expect(log).not.toContain(secret);
    expect(log).not.toMatch(/\d{12}|lambda-url\.|d111111abcdef8/);
    // Each secret has gone from old by both to new.
    expect(Object.values(secrets)).not.toContain(SECRETS['arn:origin']);
    const put = calls.filter((call) => call.includes('put-secret-value --secret-id arn:origin'));
    expect(put[0]).toContain(`,${SECRETS['arn:origin']}`);
    expect(put[1]).not.toContain(',');
    expect(log).toMatch(/answers meanwhile: +\d+ 200/);
    expect(calls.some((call) => call.includes('update-alias') && call.includes('--routing-config'))).toBe(true);
  }, 120_000);

  it('names every step and calls nothing in a dry run', async () => {
    const { status, log, calls } = await rehearse(['--dry-run']);
    expect([status, calls]).toEqual([0, []]);
    expect([...log.matchAll(/== ([\w-]+): done/g)].map(([, step]) => step)).toEqual(STEPS);
  });

  it.each([
    [
      'first-deployment',
      { published: 'https://abcdefghij.lambda-url.eu-central-1.on.aws' },
      'openapi.json names <function>',
    ],
    ['rotate-origin-secret', { ready: 403 }, 'the rotation refused calls'],
  ])('ends where something is not as promised: %s', async (step, world, reported) => {
    const { status, log } = await rehearse(['--from', step], world);
    expect(status).toBe(1);
    expect(log).toContain('FAILED: ');
    expect(log.replaceAll('https://', '')).toContain(reported);
  });
});
