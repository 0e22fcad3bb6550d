import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/exampleSettings.ts';
import { findOnly, findResources } from '../rig/readTemplate.ts';

describe.each(STAGES)('queue watch of %s', (stage) => {
  it('has the function measure the queue every minute, and makes up for nothing', () => {
    const [aliasId] = Object.keys(findResources(stage, 'AWS::Lambda::Alias'));
    expect(findOnly(stage, 'AWS::Events::Rule', 'QueueWatch').Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: [
        {
          Arn: { Ref: aliasId },
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        },
      ],
    });
  });

  it('has Lambda try no measurement again either', () => {
    const { FunctionName, Qualifier, ...bounds } = findOnly(stage, 'AWS::Lambda::EventInvokeConfig').Properties;
    const [aliasId] = Object.keys(findResources(stage, 'AWS::Lambda::Alias'));
    expect(FunctionName).toEqual(expect.anything());
    // The last part of the alias's ARN: its name.
    expect(JSON.stringify(Qualifier)).toContain(`{"Ref":"${aliasId}"}`);
    expect(bounds).toEqual({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
  });

  it('may call it', () => {
    const [ruleId] = Object.keys(findResources(stage, 'AWS::Events::Rule'));
    const permissions = Object.values(findResources(stage, 'AWS::Lambda::Permission'));
    expect(permissions.map(({ Properties }) => Properties)).toContainEqual(
      expect.objectContaining({
        Action: 'lambda:InvokeFunction',
        Principal: 'events.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [ruleId, 'Arn'] },
      }),
    );
  });
});
