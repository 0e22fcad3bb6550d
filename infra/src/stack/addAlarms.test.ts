import { tableDescriptions } from '@prism-gateway/gateway/deployment';
import { describe, expect, it } from 'vitest';
import { STAGES, type Variant } from '../rig/exampleSettings.ts';
import { findOnly, findResources, readTemplate } from '../rig/readTemplate.ts';

const functionIdOf = (variant: Variant) =>
  Object.keys(findResources(variant, 'AWS::Lambda::Function')).find((id) => /^Function[0-9A-F]{8}$/.test(id));

/** The alarms' properties by the last part of their names. */
function alarmsOf(variant: Variant): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return Object.fromEntries(
    Object.values(findResources(variant, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => [
      String(Properties.AlarmName).split('-').at(-1),
      Properties,
    ]),
  );
}

describe.each(STAGES)('alarms of %s', (stage) => {
  const alarms = alarmsOf(stage);

  it('are these', () => {
    expect(Object.keys(alarms).sort()).toEqual([
      'ClaimOverdue',
      'ClaimsWithoutReports',
      'ColdStarts',
      'DailySpend',
      'DeliveriesThrottles',
      'DeploymentFaults',
      'FunctionErrors',
      'FunctionThrottles',
      'Latency',
      // Of dev's there are as many as the account has.
      ...(stage === 'prod' ? ['NearInstances'] : []),
      'OldestPending',
      'RateLimitThrottles',
      'RelayersThrottles',
      'ReleaseFunctionErrors',
      'ReleaseServerErrors',
      'RequestsReadThrottles',
      'RequestsThrottles',
      'ServerErrors',
      'WebhookDeadLetters',
      'WebhookIteratorAge',
    ]);
  });

  it('are all told to the topic, when they begin and when they end, and say what they mean', () => {
    const [topicId] = Object.keys(findResources(stage, 'AWS::SNS::Topic'));
    for (const alarm of Object.values(alarms)) {
      expect(alarm).toMatchObject({ AlarmActions: [{ Ref: topicId }], OKActions: [{ Ref: topicId }] });
      expect(String(alarm.AlarmDescription).length).toBeGreaterThan(40);
    }
  });

  it('watch the oldest pending request, and take silence for a fault', () => {
    expect(alarms.OldestPending).toMatchObject({
      Namespace: 'PrismGateway',
      MetricName: 'OldestPendingAge',
      Dimensions: [{ Name: 'Stage', Value: stage }],
      Statistic: 'Maximum',
      Period: 60,
      Threshold: 600,
      TreatMissingData: 'breaching',
    });
  });

  it('take silence of anything else for peace', () => {
    const { OldestPending: _, ...others } = alarms;
    for (const alarm of Object.values(others)) expect(alarm.TreatMissingData).toBe('notBreaching');
  });

  it('watch the 99th percentile within the function, and the share of 5xx as clients see them', () => {
    const url = {
      Namespace: 'AWS/Lambda',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: functionIdOf(stage) } }],
    };
    expect(alarms.Latency).toMatchObject({
      Namespace: 'PrismGateway',
      Dimensions: [{ Name: 'Stage', Value: stage }],
      MetricName: 'Latency',
      ExtendedStatistic: 'p99',
      Threshold: 2000,
    });
    expect(alarms.ServerErrors).toMatchObject({
      Threshold: 1,
      Metrics: [
        { Expression: 'IF(failed >= 5, 100 * failed / calls, 0)', ReturnData: true },
        { Id: 'failed', MetricStat: { Metric: { ...url, MetricName: 'Url5xxCount' }, Stat: 'Sum' }, ReturnData: false },
        {
          Id: 'calls',
          MetricStat: { Metric: { ...url, MetricName: 'UrlRequestCount' }, Stat: 'Sum' },
          ReturnData: false,
        },
      ],
    });
  });

  it('watch throttling of the function, of the tables and of their indexes', () => {
    const target = { Dimensions: [{ Name: 'FunctionName', Value: { Ref: functionIdOf(stage) } }] };
    expect(alarms.FunctionThrottles).toMatchObject({ ...target, Namespace: 'AWS/Lambda', MetricName: 'Throttles' });
    expect(alarms.FunctionErrors).toMatchObject({ ...target, Namespace: 'AWS/Lambda', MetricName: 'Errors' });
    const text = JSON.stringify(alarms.RequestsThrottles);
    const { indexes } = tableDescriptions.requests;
    for (const { name } of indexes) expect(text).toContain(`"Value":"${name}"`);
    // The sum, the table and its indexes.
    expect(alarms.RequestsThrottles?.Metrics).toHaveLength(2 + indexes.length);
    expect(alarms.RequestsReadThrottles?.Metrics).toHaveLength(2 + indexes.length);
    expect(alarms.RelayersThrottles?.Metrics).toHaveLength(3);
    expect(JSON.stringify(alarms.RateLimitThrottles)).toContain(`"service-ratelimit-${stage}"`);
  });
});

describe('the alarm topic', () => {
  it('lets CloudWatch in, by TLS only, and mails where an address is given', () => {
    const template = readTemplate('prod');
    const [topicId] = Object.keys(findResources('prod', 'AWS::SNS::Topic'));
    const { PolicyDocument } = findOnly('prod', 'AWS::SNS::TopicPolicy').Properties;
    expect(PolicyDocument).toMatchObject({
      Statement: expect.arrayContaining([
        {
          Sid: 'AllowAlarms',
          Effect: 'Allow',
          Action: 'sns:Publish',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Resource: { Ref: topicId },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]),
    });
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'oncall@example.org' });
    readTemplate('dev').resourceCountIs('AWS::SNS::Subscription', 0);
  });
});

describe('other settings', () => {
  it('move the thresholds and follow the tables', () => {
    const alarms = alarmsOf('other');
    expect(alarms.OldestPending?.Threshold).toBe(120);
    expect(alarms.Latency?.Threshold).toBe(500);
    expect(JSON.stringify(alarms.RequestsThrottles)).toContain('"service-requests-dev-restored"');
  });
});
