import { parseFunctionSettings } from '@prism-gateway/gateway/deployment';
import { describe, expect, it } from 'vitest';
import { resolveSecrets } from '../../../packages/gateway/src/entry/lambda/resolveSecrets.ts';
import { STAGES, type Variant } from '../rig/exampleSettings.ts';
import { findOnly, findResources, flatten } from '../rig/readTemplate.ts';

/** The function's environment, with references as plain text. */
function environmentOf(variant: Variant): Record<string, string> {
  const { Environment } = findOnly(variant, 'AWS::Lambda::Function', 'Function').Properties;
  // CloudFormation's own form.
  const { Variables } = Environment as { readonly Variables: Readonly<Record<string, unknown>> };
  return Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, flatten(value)]));
}

describe.each(STAGES)('function of %s', (stage) => {
  const { Properties } = findOnly(stage, 'AWS::Lambda::Function', 'Function');

  // Shows AWS-1.
  it('has the runtime, memory and time of the specification', () => {
    expect(Properties).toMatchObject({
      FunctionName: `prism-gateway-${stage}`,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 256,
      Timeout: 29,
      Handler: 'index.handler',
    });
  });

  it('logs to a group that forgets', () => {
    const [id, group] =
      Object.entries(findResources(stage, 'AWS::Logs::LogGroup')).find(
        ([
          ,
          {
            Properties: { LogGroupName },
          },
        ]) => LogGroupName === `/aws/lambda/prism-gateway-${stage}`,
      ) ?? [];
    expect(Properties.LoggingConfig).toEqual({ LogGroup: { Ref: id }, LogFormat: 'JSON', SystemLogLevel: 'WARN' });
    expect(group?.Properties.RetentionInDays).toBe(stage === 'prod' ? 90 : 14);
  });

  it('reserves instances in prod', () => {
    expect(Properties.ReservedConcurrentExecutions).toBe(stage === 'prod' ? 100 : undefined);
  });
});

describe.each([...STAGES, 'other'] as const)('environment of %s', (variant) => {
  // With the address of the edge, and without it: the first time there is none yet.
  it.each(['https://api.example.org', ''])('is one that the gateway starts with, EdgeUrl=%s', async (edgeUrl) => {
    const asked: string[] = [];
    const given = environmentOf(variant);
    if (given.PUBLIC_URL === '<EdgeUrl>') given.PUBLIC_URL = edgeUrl;
    const environment = await resolveSecrets(given, async (arn) => {
      asked.push(arn);
      return 'k'.repeat(48);
    });
    const settings = parseFunctionSettings(environment);
    const stage = variant === 'other' ? 'dev' : variant;
    expect(settings).toMatchObject({ STAGE: stage, STORE: 'dynamodb', adminKeys: ['k'.repeat(48)] });
    expect(settings.tables).toEqual({
      requests: `service-requests-${stage}${variant === 'other' ? '-restored' : ''}`,
      relayers: `service-relayers-${stage}`,
      rateLimits: `service-ratelimit-${stage}`,
    });
    expect(asked).toHaveLength({ dev: 2, other: 3, prod: 4 }[variant]);
  });

  it('holds no secret, only where secrets are', () => {
    const names = Object.keys(environmentOf(variant));
    for (const secret of ['ADMIN_API_KEY', 'CURSOR_SECRET', 'IDENTITY_APP_SECRET', 'ORIGIN_SECRET'])
      expect(names).not.toContain(secret);
  });
});

describe('environment of prod', () => {
  it('has the settings that were given', () => {
    expect(environmentOf('prod')).toMatchObject({
      IDENTITY_ISSUER: 'https://id.example.org',
      IDENTITY_APP_ID: 'prism',
      CLAIM_LEASE_SECONDS: '600',
      RATE_LIMIT_WRITE_BYTES: '2097152',
      STORAGE_SIGNED_URL_TTL_SECONDS: '120',
    });
  });
});

describe('environment behind an edge', () => {
  // Shows AWS-5.
  it('publishes the address of the edge, always', () => {
    expect(environmentOf('prod').PUBLIC_URL).toBe('<EdgeUrl>');
    expect(environmentOf('dev')).not.toHaveProperty('PUBLIC_URL');
  });
});

describe('other settings', () => {
  it('let the canary of a release through, beside the chains that are taken', () => {
    expect(environmentOf('other').CHAINS).toBe('eip155:1,eip155:10,prism-canary');
    expect(environmentOf('prod')).not.toHaveProperty('CHAINS');
  });

  it('have instances read the secrets again', () => {
    expect(environmentOf('other').SECRETS_REVISION).toBe('2');
    expect(environmentOf('prod')).not.toHaveProperty('SECRETS_REVISION');
  });

  it('reserve other numbers of instances and days', () => {
    expect(findOnly('other', 'AWS::Lambda::Function', 'Function').Properties.ReservedConcurrentExecutions).toBe(2);
    for (const { Properties } of Object.values(findResources('other', 'AWS::Logs::LogGroup'))) {
      expect(Properties.RetentionInDays).toBe(30);
    }
  });
});
