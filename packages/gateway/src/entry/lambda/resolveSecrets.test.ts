import { SettingsError } from '@prism-gateway/node/settings';
import { expect, it } from 'vitest';
import { resolveSecrets } from './resolveSecrets.ts';

const secrets: Readonly<Record<string, string>> = { 'arn:1': 'first', 'arn:2': 'second\n', 'arn:3': 'third' };
const read = async (arn: string) => secrets[arn] ?? 'none';

it('puts each secret in the place of its reference, and leaves the rest alone', async () => {
  const environment = {
    ADMIN_API_KEY_ARN: 'arn:1',
    IDENTITY_APP_SECRET_ARN: 'arn:2',
    CURSOR_SECRET_ARN: 'arn:3',
    STAGE: 'dev',
  };
  expect(await resolveSecrets(environment, read)).toEqual({
    ...environment,
    ADMIN_API_KEY: 'first',
    IDENTITY_APP_SECRET: 'second',
    CURSOR_SECRET: 'third',
  });
});

it('reads nothing where there are no references', async () => {
  const environment = { ADMIN_API_KEY: 'plain', ADMIN_API_KEY_ARN: '', CURSOR_SECRET_ARN: undefined };
  const none = async () => Promise.reject(new Error('nothing is to be read'));
  expect(await resolveSecrets(environment, none)).toEqual(environment);
});

it.each(['', '\n', '\r\n'])('refuses the empty secret %j', async (secret) => {
  const resolving = resolveSecrets({ ADMIN_API_KEY_ARN: 'arn:1', CURSOR_SECRET_ARN: 'arn:2' }, async () => secret);
  await expect(resolving).rejects.toMatchObject({
    faults: [expect.stringMatching(/^ADMIN_API_KEY_ARN: /), expect.stringMatching(/^CURSOR_SECRET_ARN: /)],
  });
});

it('refuses a setting that is given both ways', async () => {
  const twice = resolveSecrets({ ADMIN_API_KEY: 'plain', ADMIN_API_KEY_ARN: 'arn:1' }, read);
  await expect(twice).rejects.toThrow(SettingsError);
  await expect(twice).rejects.not.toThrow('plain');
});
