import { describe, expect, it } from 'vitest';
import { findOnly, findResources, flatten, readTemplate } from '../rig/readTemplate.ts';

interface Rule {
  readonly Name: string;
  readonly Priority: number;
  readonly Statement: Readonly<Record<string, unknown>>;
  readonly OverrideAction?: unknown;
  readonly Action?: { readonly Block?: { readonly CustomResponse: { readonly ResponseCode: number } } };
}

describe('firewall', () => {
  const { Properties } = findOnly('prod', 'AWS::WAFv2::WebACL');
  // CloudFormation's own form.
  const rules = Properties.Rules as readonly Rule[];

  it('lets through what no rule stops, and counts each address first', () => {
    expect(Properties).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
    expect(rules.map(({ Priority }) => Priority)).toEqual(rules.map((_, index) => index));
    expect(rules[0]).toMatchObject({
      Name: 'RatePerAddress',
      Action: { Block: { CustomResponse: { ResponseCode: 429 } } },
      Statement: { RateBasedStatement: { Limit: 400, EvaluationWindowSec: 300, AggregateKeyType: 'IP' } },
    });
  });

  it('does not count for those who are trusted, of either version of addresses', () => {
    const text = JSON.stringify(rules[0]?.Statement);
    const sets = findResources('prod', 'AWS::WAFv2::IPSet');
    const found = Object.entries(sets).map(([id, set]) => {
      expect(text).toContain(JSON.stringify({ 'Fn::GetAtt': [id, 'Arn'] }));
      return [set.Properties.IPAddressVersion, set.Properties.Addresses];
    });
    expect(found).toEqual([
      ['IPV4', ['192.0.2.10/32']],
      ['IPV6', ['2001:db8::/64']],
    ]);
    expect(text).toContain('"NotStatement"');
  });

  it('has the rules that AWS keeps, less those that this API would break', () => {
    const managed = rules.slice(1);
    expect(managed.map(({ Name }) => Name)).toEqual([
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesKnownBadInputsRuleSet',
      'AWSManagedRulesCommonRuleSet',
    ]);
    for (const { OverrideAction } of managed) expect(OverrideAction).toEqual({ None: {} });
    const common = JSON.stringify(managed.at(-1)?.Statement);
    // A body may have 256 kB; this rule allows 8.
    expect(common).toContain('{"ActionToUse":{"Count":{}},"Name":"SizeRestrictions_BODY"}');
  });

  it('stands before CloudFront', () => {
    const [id] = Object.keys(findResources('prod', 'AWS::WAFv2::WebACL'));
    const { DistributionConfig } = findOnly('prod', 'AWS::CloudFront::Distribution').Properties;
    expect(DistributionConfig).toMatchObject({ WebACLId: { 'Fn::GetAtt': [id, 'Arn'] } });
    expect(findResources('dev', 'AWS::WAFv2::WebACL')).toEqual({});
  });
});

describe('distribution', () => {
  const { DistributionConfig } = findOnly('prod', 'AWS::CloudFront::Distribution').Properties as {
    readonly DistributionConfig: Readonly<Record<string, unknown>>;
  };

  it('passes every method, header and query on, by TLS, and keeps nothing', () => {
    expect(DistributionConfig).toMatchObject({
      Aliases: ['api.example.org'],
      // The firewall counts each IPv6 address by itself, of which one client has 2^64.
      IPV6Enabled: false,
      ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021', SslSupportMethod: 'sni-only' },
      DefaultCacheBehavior: {
        ViewerProtocolPolicy: 'https-only',
        Compress: false,
        // AWS's own policies CachingDisabled and AllViewerExceptHostHeader.
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
        OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
        AllowedMethods: expect.arrayContaining(['GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'DELETE']),
      },
    });
  });

  // Shows AWS-5.
  it('says who calls, whatever the caller has written there', () => {
    const { DefaultCacheBehavior } = DistributionConfig as { readonly DefaultCacheBehavior: object };
    const [id] = Object.keys(findResources('prod', 'AWS::CloudFront::Function'));
    expect(DefaultCacheBehavior).toMatchObject({
      FunctionAssociations: [{ EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': [id, 'FunctionARN'] } }],
    });
    const code = String(findOnly('prod', 'AWS::CloudFront::Function').Properties.FunctionCode);
    const play = new Function('event', `${code}; return handler(event);`);
    const forged = { 'x-viewer-address': { value: '8.8.8.8' }, accept: { value: '*/*' } };
    expect(play({ viewer: { ip: '192.0.2.9' }, request: { headers: forged } })).toEqual({
      headers: { 'x-viewer-address': { value: '192.0.2.9' }, accept: { value: '*/*' } },
    });
  });

  // Shows AWS-5.
  it('adds the origin secret, which no template and no parameter holds', () => {
    const { Origins } = DistributionConfig as { readonly Origins: readonly Readonly<Record<string, unknown>>[] };
    expect(Origins).toHaveLength(1);
    expect(Origins[0]).toMatchObject({
      DomainName: { Ref: 'OriginHost' },
      CustomOriginConfig: {
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
        OriginReadTimeout: 30,
      },
    });
    const [header] = (Origins[0]?.OriginCustomHeaders ?? []) as readonly Readonly<Record<string, unknown>>[];
    expect(header?.HeaderName).toBe('X-Origin-Secret');
    expect(flatten(header?.HeaderValue)).toBe('{{resolve:secretsmanager:<OriginHeaderArn>:SecretString}}');
    readTemplate('prod', 'Edge').hasParameter('OriginHost', {});
  });
});
