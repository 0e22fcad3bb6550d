import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/givenSettings.ts';
import { findOnly, findResources } from '../rig/readTemplate.ts';

describe.each(STAGES)('queue watch of %s', (stage) => {
  it('has the function measure the queue every minute, and makes up for nothing', () => {
    const [functionId] = Object.keys(findResources(stage, 'AWS::Lambda::Function'));
    expect(findOnly(stage, 'AWS::Events::Rule').Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: [
        {
          Arn: { 'Fn::GetAtt': [functionId, 'Arn'] },
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        },
      ],
    });
  });

  it('has Lambda try no measurement again either', () => {
    const { FunctionName, Qualifier, ...bounds } = findOnly(stage, 'AWS::Lambda::EventInvokeConfig').Properties;
    expect([FunctionName, Qualifier]).toEqual([expect.anything(), '$LATEST']);
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
