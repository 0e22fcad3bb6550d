import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCommandLine } from './commandLine.ts';
import { gatherSettings } from './gatherSettings.ts';

const directory = mkdtempSync(join(tmpdir(), 'prism-settings-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function writeFile(name: string, ...lines: string[]): string {
  const file = join(directory, name);
  writeFileSync(file, lines.join('\n'));
  return file;
}

const fileOf = (stage: string) => join(directory, `${stage}.env`);
const gather = (...args: string[]) => gatherSettings(readCommandLine(args), fileOf);
const identity = ['--identity-issuer', 'https://id.example.org', '--identity-app-id', 'prism'];
const origin = ['--production-origin', 'https://app.example.org'];

describe('settings for a synthesis', () => {
  it('have placeholders for what is not given, and say which', () => {
    expect(gather('synth').placeholders).toEqual(['IDENTITY_ISSUER', 'IDENTITY_APP_ID']);
    const { settings, placeholders } = gather('synth', '--stage', 'prod', '--identity-app-id', 'prism');
    expect(placeholders).toEqual(['PRODUCTION_ORIGIN', 'IDENTITY_ISSUER']);
    expect(settings.gateway).toEqual({ IDENTITY_ISSUER: 'https://identity.invalid', IDENTITY_APP_ID: 'prism' });
    expect(gather('synth', '--stage', 'prod', ...identity, ...origin).placeholders).toEqual([]);
  });
});

describe('settings for a deployment', () => {
  it('must all be given: nothing is deployed to a stage or region by default', () => {
    expect(() => gather('deploy')).toThrow(
      expect.objectContaining({
        faults: [
          expect.stringMatching(/^STAGE: needed to deploy/),
          expect.stringMatching(/^REGION: needed to deploy/),
          expect.stringMatching(/^IDENTITY_ISSUER: required/),
        ],
      }),
    );
    const args = ['deploy', '--stage', 'prod', '--region', 'eu-central-1', ...identity, ...origin];
    expect(gather(...args).settings).toMatchObject({ stage: 'prod', region: 'eu-central-1' });
  });
});

describe('a file of settings', () => {
  const file = writeFile(
    'given.env',
    '# a comment',
    'STAGE=prod',
    'REGION=eu-central-1',
    'PRODUCTION_ORIGIN="https://app.example.org"',
    'IDENTITY_ISSUER=https://id.example.org',
    'IDENTITY_APP_ID=prism',
  );

  it('is enough to deploy, and gives way to options', () => {
    expect(gather('deploy', '--settings', file).settings).toMatchObject({ stage: 'prod', region: 'eu-central-1' });
    expect(gather('deploy', '--settings', file, '--region', 'us-east-1').settings.region).toBe('us-east-1');
  });

  it('is read without being named where it bears the name of the stage', () => {
    const own = writeFile('prod.env', 'REGION=eu-central-1', 'ALARM_EMAIL=oncall@example.org');
    const args = ['deploy', '--stage', 'prod', ...identity, ...origin];
    expect(gather(...args).settings).toMatchObject({ region: 'eu-central-1', alarmEmail: 'oncall@example.org' });
    rmSync(own);
    expect(() => gather(...args)).toThrow(/REGION/);
  });

  it('is not taken for another stage than its own', () => {
    expect(() => gather('deploy', '--settings', file, '--stage', 'dev')).toThrow(/STAGE: .* is for prod/);
  });

  it('must be there, and hold settings only: a secret has no place in it', () => {
    expect(() => gather('synth', '--settings', join(directory, 'none.env'))).toThrow(/there is no file/);
    const leaky = writeFile('leaky.env', 'STAGE=prod', 'ADMIN_API_KEY=hunter2');
    expect(() => gather('synth', '--settings', leaky)).toThrow(/ADMIN_API_KEY: no setting of a stage/);
    expect(() => gather('synth', '--settings', leaky)).not.toThrow(/hunter2/);
  });
});
