import { afterEach, describe, expect, it, vi } from 'vitest';
import { EXAMPLE_SETTINGS } from '../rig/exampleSettings.ts';
import { type AccountFacts, startAwsApi } from '../rig/startAwsApi.ts';
import type { GivenSettings } from '../settings/knownSettings.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createAccountView } from './createAccountView.ts';
import { createStackControl } from './createStackControl.ts';
import { preflight } from './preflight.ts';

/** Nothing is to be said of it. */
const prod: GivenSettings = { ...EXAMPLE_SETTINGS.prod, CHAINS: 'eip155:8453' };
const good: AccountFacts = { bootstrapVersion: '21', limit: 1000, unreserved: 1000, tables: [], stacks: {} };

async function callAws<T>(facts: AccountFacts, call: () => Promise<T>): Promise<T> {
  const server = await startAwsApi(facts);
  for (const name of ['STS', 'SSM', 'LAMBDA', 'DYNAMODB', 'CLOUDFORMATION'])
    vi.stubEnv(`AWS_ENDPOINT_URL_${name}`, server.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'none');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'none');
  try {
    return await call();
  } finally {
    await server.close();
  }
}

function check(facts: Partial<AccountFacts>, given: GivenSettings = prod, nodeVersion = '24.1.0') {
  const settings = parseStageSettings(given);
  const account = () => createAccountView('eu-central-1');
  return callAws({ ...good, ...facts }, () => preflight({ account: account(), settings, nodeVersion }));
}

async function faultsOf(...given: Parameters<typeof check>): Promise<readonly string[]> {
  return await check(...given).then(
    () => [],
    (error) => error.faults,
  );
}

afterEach(() => vi.unstubAllEnvs());

describe('a preflight', () => {
  it('passes where nothing stands in the way, and says nothing', async () => {
    expect(await check({})).toEqual({
      settings: parseStageSettings(prod),
      accountId: '123456789012',
      notes: [],
    });
  });

  it('names every fault at once, each with the way out', async () => {
    const faults = await faultsOf({ bootstrapVersion: '5', own: 0 }, prod, '18.1.0');
    expect(faults).toEqual([
      'Node.js: this is 18.1.0, 20 or later is needed',
      expect.stringContaining('cdk bootstrap aws://123456789012/eu-central-1'),
      expect.stringContaining('cdk bootstrap aws://123456789012/us-east-1'),
      expect.stringMatching(/^function prism-gateway-prod: the name is in use/),
    ]);
    const { bootstrapVersion: _, ...unprepared } = good;
    const none = callAws(unprepared, () =>
      preflight({
        account: createAccountView('eu-central-1'),
        settings: parseStageSettings(prod),
        nodeVersion: '24.0.0',
      }),
    );
    await expect(none).rejects.toThrow('bootstrap of eu-central-1: there is none');
  });

  it('reserves as many instances as the account has', async () => {
    expect((await check({ limit: 150, unreserved: 150 })).settings.reservedConcurrency).toBe(50);
    // What the function has reserved already is its own to reserve.
    const again = await check({
      limit: 150,
      unreserved: 100,
      own: 50,
      stacks: { 'prism-gateway-prod-service': 'CREATE_COMPLETE' },
    });
    expect(again.settings.reservedConcurrency).toBe(50);
    const small = await check({ limit: 10, unreserved: 10 });
    expect(small.settings.reservedConcurrency).toBe(0);
    expect(small.notes).toEqual([expect.stringContaining("the account's limit is 10")]);
  });

  it('refuses a reservation that was asked for and cannot be had', async () => {
    expect(await faultsOf({ limit: 150, unreserved: 150 }, { ...prod, RESERVED_CONCURRENCY: '60' })).toEqual([
      expect.stringMatching(/^RESERVED_CONCURRENCY: expected at most 50: /),
    ]);
  });

  it('says that anybody may raise an alarm where any chain is taken', async () => {
    const { notes } = await check({}, EXAMPLE_SETTINGS.prod);
    expect(notes).toEqual([expect.stringMatching(/^CHAINS is not set: .* OldestPending/)]);
  });

  it('takes tables of prod over, and refuses to in dev', async () => {
    const { notes } = await check({ tables: ['service-requests-prod'] });
    expect(notes).toEqual([expect.stringContaining('service-requests-prod is there')]);
    const dev = { ...EXAMPLE_SETTINGS.dev, REGION: 'eu-central-1' };
    expect(await faultsOf({ tables: ['service-requests-dev'] }, dev)).toEqual([
      expect.stringMatching(/^table service-requests-dev: the name is in use/),
    ]);
    const ours = { tables: ['service-requests-dev'], stacks: { 'prism-gateway-dev-data': 'CREATE_COMPLETE' } };
    expect(await faultsOf(ours, dev)).toEqual([]);
  });
});

describe('the control of stacks', () => {
  it('reads what CloudFormation tells', async () => {
    const settings = parseStageSettings(prod);
    const control = () => createStackControl({ settings, assembly: 'none', yes: true });
    const facts = { ...good, stacks: { 'prism-gateway-prod-edge': 'ROLLBACK_COMPLETE' } };
    expect(await callAws(facts, () => control().describe('Data'))).toBeUndefined();
    expect(await callAws(facts, () => control().describe('Edge'))).toEqual({
      status: 'ROLLBACK_COMPLETE',
      isProtected: true,
      outputs: { Url: 'https://a.example' },
    });
  });
});
