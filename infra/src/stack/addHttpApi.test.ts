import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/givenSettings.ts';
import { findOnly, findResources, flatten, readTemplate } from '../rig/readTemplate.ts';

describe.each(STAGES)('HTTP API of %s', (stage) => {
  it('leaves CORS to the gateway', () => {
    const { Properties } = findOnly(stage, 'AWS::ApiGatewayV2::Api');
    expect(Properties.ProtocolType).toBe('HTTP');
    expect(Properties).not.toHaveProperty('CorsConfiguration');
  });

  it('hands every call to the function', () => {
    const { Properties } = findOnly(stage, 'AWS::ApiGatewayV2::Route');
    expect(Properties).toMatchObject({ RouteKey: '$default', AuthorizationType: 'NONE' });
    const [aliasId] = Object.keys(findResources(stage, 'AWS::Lambda::Alias'));
    expect(findOnly(stage, 'AWS::ApiGatewayV2::Integration').Properties).toMatchObject({
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
      IntegrationUri: { Ref: aliasId },
    });
  });

  it('may be the only API that calls the function', () => {
    const [apiId] = Object.keys(findResources(stage, 'AWS::ApiGatewayV2::Api'));
    const permissions = Object.values(findResources(stage, 'AWS::Lambda::Permission'));
    const fromApi = permissions.filter(({ Properties }) => Properties.Principal === 'apigateway.amazonaws.com');
    expect(fromApi.map(({ Properties }) => flatten(Properties.SourceArn))).toEqual([
      expect.stringMatching(new RegExp(`:execute-api:.*:<${apiId}>/\\*/\\*$`)),
    ]);
  });

  it('throttles, and logs a line a call without queries, headers and bodies', () => {
    const { Properties } = findOnly(stage, 'AWS::ApiGatewayV2::Stage');
    expect(Properties).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 1000, ThrottlingBurstLimit: 500 },
    });
    // CloudFormation's own form.
    const { Format } = Properties.AccessLogSettings as { readonly Format: string };
    const variables = Format.match(/\$context\.[\w.]+/g);
    expect(variables).toEqual([
      '$context.requestTimeEpoch',
      '$context.requestId',
      '$context.identity.sourceIp',
      '$context.httpMethod',
      '$context.path',
      '$context.status',
      '$context.responseLatency',
      '$context.integration.latency',
      '$context.error.message',
      '$context.integration.error',
    ]);
    expect(() => JSON.parse(Format)).not.toThrow();
  });
});

describe('a domain', () => {
  it('is mapped where one is given: of an API behind an edge, the one that the edge calls', () => {
    const template = readTemplate('prod');
    template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', {
      DomainName: 'origin.example.org',
      DomainNameConfigurations: [{ SecurityPolicy: 'TLS_1_2', EndpointType: 'REGIONAL' }],
    });
    template.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 1);
    template.hasOutput('ApiHost', { Value: 'origin.example.org' });
    expect(Object.keys(template.findOutputs('DomainTarget'))).toHaveLength(1);
    readTemplate('other').hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'dev.example.org' });
    readTemplate('other').hasOutput('Url', { Value: 'https://dev.example.org' });
  });

  // Shows AWS-5.
  it('closes the default endpoint behind an edge', () => {
    expect(findOnly('prod', 'AWS::ApiGatewayV2::Api').Properties.DisableExecuteApiEndpoint).toBe(true);
    expect(findOnly('dev', 'AWS::ApiGatewayV2::Api').Properties.DisableExecuteApiEndpoint).toBe(false);
  });

  it('is not needed', () => {
    const template = readTemplate('dev');
    expect(template.findResources('AWS::ApiGatewayV2::DomainName')).toEqual({});
    const [apiId] = Object.keys(findResources('dev', 'AWS::ApiGatewayV2::Api'));
    template.hasOutput('Url', { Value: { 'Fn::GetAtt': [apiId, 'ApiEndpoint'] } });
  });
});

describe('other settings', () => {
  it('throttle otherwise', () => {
    expect(findOnly('other', 'AWS::ApiGatewayV2::Stage').Properties.DefaultRouteSettings).toEqual({
      ThrottlingRateLimit: 1,
      ThrottlingBurstLimit: 3,
    });
  });
});
