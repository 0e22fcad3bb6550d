import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { findMisspelt } from './findMisspelt.ts';
import { type Environment, keyFaults, parseEnvironment, SettingsError } from './parseEnvironment.ts';
import { type SettingValues, setting } from './setting.ts';
import {
  address,
  baseUnits,
  decimalAmount,
  flag,
  httpUrl,
  listOf,
  logLevel,
  oneOf,
  privateKey,
  smtpUrl,
  wholeNumber,
} from './settingFields.ts';
import { writeSettingsHelp, writeSettingsPage } from './writeSettings.ts';

const ADDRESS = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const KEY = `0x${'ab'.repeat(32)}`;

const settings = {
  PORT: setting(wholeNumber(0, 65_535), 'where it listens', { initial: '8787' }),
  RATE: setting(decimalAmount(9), 'a rate'),
  AMOUNT: setting(baseUnits(), 'an amount'),
  STRICT: setting(flag(), 'a flag', { initial: 'false' }),
  MODE: setting(oneOf(['fast', 'safe', 'slow']), 'a word', { initial: 'safe' }),
  RPC_URL: setting(httpUrl(), 'a node'),
  SMTP_URL: setting(smtpUrl(), 'a mail server'),
  KEY: setting(privateKey(), 'a key', { isSecret: true, heading: 'Keys' }),
  CONTRACT: setting(address(), 'a contract'),
  WATCHED: setting(listOf(address()), 'addresses', { initial: '', unset: 'none' }),
  LOG_LEVEL: setting(logLevel(), 'a level', { initial: 'info' }),
  CHAINS: setting(
    z.pipe(
      z.pipe(
        z.string(),
        z.transform((text) => JSON.parse(text)),
      ),
      z.array(z.object({ rpcUrl: httpUrl() })),
    ),
    'chains',
  ),
} as const;

function faultsOf(environment: Environment): readonly string[] {
  try {
    parseEnvironment({ settings }, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).message).not.toMatch(/s3cret/);
    return (error as SettingsError).faults;
  }
  throw new Error('the settings were taken');
}

test('reads every kind of field', () => {
  const environment = {
    PORT: '0',
    RATE: '1.05',
    AMOUNT: '340',
    STRICT: 'true',
    MODE: 'fast',
    RPC_URL: 'http://user:pass@127.0.0.1:8545',
    SMTP_URL: 'smtps://mail.example',
    KEY,
    CONTRACT: ADDRESS,
    WATCHED: ` ${ADDRESS} ,, ${ADDRESS}`,
    LOG_LEVEL: 'silent',
  };
  expect(parseEnvironment({ settings }, environment)).toEqual({
    ...environment,
    PORT: 0,
    RATE: 1_050_000_000n,
    AMOUNT: 340n,
    STRICT: true,
    CONTRACT: ADDRESS.toLowerCase(),
    WATCHED: [ADDRESS.toLowerCase(), ADDRESS.toLowerCase()],
  });
});

test('an empty text counts as unset', () => {
  expect(parseEnvironment({ settings }, { PORT: '', RPC_URL: '', OTHER: 'x' })).toEqual({
    PORT: 8787,
    STRICT: false,
    MODE: 'safe',
    WATCHED: [],
    LOG_LEVEL: 'info',
  });
});

test.each<[string, string, string]>([
  ['PORT', '65536', 'a whole number from 0 to 65535'],
  ['PORT', '-1', 'a whole number from 0 to 65535'],
  ['PORT', '1e3', 'a whole number from 0 to 65535'],
  ['PORT', '9'.repeat(400), 'a whole number from 0 to 65535'],
  ['RATE', '1.0000000001', 'a decimal number with at most 9 digits after the point'],
  ['RATE', '.5', 'a decimal number with at most 9 digits after the point'],
  ['AMOUNT', '1.5', 'a whole number of base units'],
  ['AMOUNT', '9'.repeat(78), 'a whole number of base units'],
  ['STRICT', 'yes', 'true or false'],
  ['MODE', 's3cret', 'fast, safe or slow'],
  ['RPC_URL', 'ws://s3cret', 'an http or https URL'],
  ['RPC_URL', 's3cret', 'an http or https URL'],
  ['SMTP_URL', 'http://s3cret', 'an smtp or smtps URL'],
  ['KEY', `${KEY}s3cret`, '0x followed by 64 hex digits, or kms: and the name of a key'],
  ['CONTRACT', '0xs3cret', '0x followed by 40 hex digits'],
  ['LOG_LEVEL', 's3cret', 'debug, info, warn, error or silent'],
])('%s=%s is refused, and the value is not repeated', (name, text, wanted) => {
  expect(faultsOf({ [name]: text })).toEqual([`${name}: expected ${wanted}`]);
});

test('a fault inside a list or an object names its place', () => {
  expect(faultsOf({ WATCHED: `${ADDRESS},s3cret` })).toEqual(['WATCHED[1]: expected 0x followed by 40 hex digits']);
  expect(faultsOf({ CHAINS: '[{"rpcUrl":"s3cret"}]' })).toEqual(['CHAINS[0].rpcUrl: expected an http or https URL']);
});

test('every fault is named at once, each one once', () => {
  const rules = {
    settings,
    findFaults: (given: Environment) => [...keyFaults(given, 'RELAYER_'), ...keyFaults(given, 'RELAYER_')],
    findValueFaults: ({ PORT }: SettingValues<typeof settings>) => (PORT === 1 ? ['PORT: expected any other'] : []),
  };
  const required = 'RELAYER_PRIVATE_KEY: required, or RELAYER_KEYSTORE and RELAYER_KEYSTORE_PASSWORD';
  expect(() => parseEnvironment(rules, { PORT: 'x', STRICT: 'x' })).toThrow(
    new SettingsError(['PORT: expected a whole number from 0 to 65535', 'STRICT: expected true or false', required]),
  );
  expect(() => parseEnvironment(rules, { PORT: '1' })).toThrow(
    new SettingsError([required, 'PORT: expected any other']),
  );
  expect(parseEnvironment(rules, { RELAYER_PRIVATE_KEY: KEY }).PORT).toBe(8787);
});

test.each<[Environment, readonly string[]]>([
  [{ A_PRIVATE_KEY: 'k' }, []],
  [{ A_KEYSTORE: 'file', A_KEYSTORE_PASSWORD: 'p' }, []],
  [{ A_KEYSTORE: 'file' }, ['A_KEYSTORE_PASSWORD: required with A_KEYSTORE']],
  [{ A_KEYSTORE: 'file', A_PRIVATE_KEY: 'k' }, ['A_KEYSTORE: expected either it or A_PRIVATE_KEY, not both']],
])('a key is given one way: %j', (given, faults) => {
  expect(keyFaults(given, 'A_')).toEqual(faults);
});

test('a secret may come from a file, and is not given twice; a file that cannot be read is named', () => {
  const dir = mkdtempSync(join(tmpdir(), 'secrets-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'key');
  writeFileSync(file, `${KEY}\n`);
  expect(parseEnvironment({ settings }, { KEY_FILE: file }).KEY).toBe(KEY);
  expect(faultsOf({ KEY_FILE: file, KEY })).toEqual(['KEY_FILE: expected either it or KEY, not both']);
  expect(faultsOf({ KEY_FILE: join(dir, 'none') })).toEqual(['KEY_FILE: expected a file that can be read']);
  expect(parseEnvironment({ settings }, { RPC_URL_FILE: file }).RPC_URL).toBeUndefined();
});

test.each([
  [{ PORTT: '1' }, 'PORT'],
  [{ LOGLEVEL: 'info' }, 'LOG_LEVEL'],
  [{ SMPT_URL: 's3cret' }, 'SMTP_URL'],
  [{ KEYFILE: 's3cret' }, 'KEY_FILE'],
  [{ PORT: '1', KEY_FILE: 'x', PATH: '/bin', HOME: '/', PORTAL: 'x', EDITOR: 'vi', LOG_SHELVE: 'x' }, undefined],
])('a variable that is almost a setting is named with it: %j', (environment, meant) => {
  const [name] = Object.keys(environment);
  const sentences = meant === undefined ? [] : [`There is no setting ${name}. Probably ${meant} is meant.`];
  expect(findMisspelt(settings, environment as Environment)).toEqual(sentences);
});

test('help and documents are made of the settings', () => {
  const { PORT, KEY: secret, WATCHED } = settings;
  expect(writeSettingsHelp({ PORT, KEY: secret, WATCHED })).toMatchInlineSnapshot(`
    "  PORT                            8787                      where it listens

    Keys:
      KEY                                                       a key; or KEY_FILE names a file that holds it
      WATCHED                         none                      addresses"
  `);
  expect(writeSettingsPage({ PORT, KEY: secret, WATCHED })).toMatchInlineSnapshot(`
    "- \`PORT\` (\`8787\`): where it listens

    Keys:

    - \`KEY\` (secret): a key
    - \`WATCHED\` (\`none\`): addresses"
  `);
});
