import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/exampleSettings.ts';
import { findOnly, findResources, flatten, flattenAll, readTemplates } from '../rig/readTemplate.ts';

const idOf = (stage: (typeof STAGES)[number], type: string, word: string) =>
  Object.keys(findResources(stage, type)).find((id) => new RegExp(`^${word}[0-9A-F]{8}$`).test(id));

describe.each(STAGES)('a release of %s', (stage) => {
  const group = findOnly(stage, 'AWS::CodeDeploy::DeploymentGroup');
  // What the tests' reader leaves out of a resource.
  const alias = findOnly(stage, 'AWS::Lambda::Alias') as ReturnType<typeof findOnly> & {
    readonly UpdatePolicy: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly DependsOn: readonly string[];
  };
  const hookId = idOf(stage, 'AWS::Lambda::Function', 'PreTraffic');

  // Shows AWS-6.
  it('gives a new version a tenth of the calls at most for ten minutes', () => {
    expect(group.Properties.DeploymentConfigName).toEqual({ Ref: 'ReleaseMode' });
    expect(readTemplates(stage).Service?.Parameters?.ReleaseMode).toMatchObject({
      Default: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      // `deploy --now`.
      AllowedValues: expect.arrayContaining(['CodeDeployDefault.LambdaAllAtOnce']),
    });
    const [groupId] = Object.keys(findResources(stage, 'AWS::CodeDeploy::DeploymentGroup'));
    expect(alias.DependsOn).toContain(groupId);
    expect(group.Properties.DeploymentStyle).toMatchObject({ DeploymentOption: 'WITH_TRAFFIC_CONTROL' });
    expect(Object.keys(alias.UpdatePolicy)).toEqual(['CodeDeployLambdaAliasUpdate']);
  });

  it('takes it back by alarms that look at every minute, and when anything fails', () => {
    expect(group.Properties.AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    });
    const { Alarms } = group.Properties.AlarmConfiguration as {
      readonly Alarms: readonly { readonly Name: unknown }[];
    };
    const names = Alarms.map(({ Name }) => flatten(Name));
    expect(names).toEqual([
      expect.stringMatching(/^<ReleaseServerErrorsAlarm/),
      expect.stringMatching(/^<ReleaseFunctionErrorsAlarm/),
    ]);
  });

  it('is checked by the hook before its first call, and the hook knows of it by then', () => {
    expect(alias.UpdatePolicy.CodeDeployLambdaAliasUpdate?.BeforeAllowTrafficHook).toEqual({ Ref: hookId });
    expect(alias.DependsOn).toContain(hookId);
    const [version] = Object.keys(findResources(stage, 'AWS::Lambda::Version'));
    const { Environment } = findOnly(stage, 'AWS::Lambda::Function', 'PreTraffic').Properties;
    const { Variables } = Environment as { readonly Variables: Readonly<Record<string, unknown>> };
    expect(Variables.VERSION_ARN).toEqual({ Ref: version });
    expect(alias.Properties.FunctionVersion).toEqual({ 'Fn::GetAtt': [version, 'Version'] });
    expect(Object.keys(Variables).sort()).toEqual(
      ['ADMIN_API_KEY_ARN', ...(stage === 'prod' ? ['ORIGIN_SECRET_ARN'] : []), 'VERSION_ARN'].sort(),
    );
  });

  // Shows AWS-6.
  it.runIf(stage === 'prod')('is checked once more by the way that clients take', () => {
    expect(alias.UpdatePolicy.CodeDeployLambdaAliasUpdate?.AfterAllowTrafficHook).toEqual({
      Ref: idOf(stage, 'AWS::Lambda::Function', 'PostTraffic'),
    });
    const { Environment } = findOnly(stage, 'AWS::Lambda::Function', 'PostTraffic').Properties;
    expect(Environment).toMatchObject({ Variables: { PUBLIC_URL: { Ref: 'EdgeUrl' } } });
  });

  it('has a hook that may call that version, read the two secrets, and tell CodeDeploy', () => {
    const { Policies } = findOnly(stage, 'AWS::IAM::Role', 'PreTrafficRole').Properties;
    const statements = (
      Policies as { PolicyDocument: { Statement: { Action: unknown; Resource: unknown }[] } }[]
    ).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.flatMap(({ Action }) => flattenAll(Action)).sort()).toEqual([
      'lambda:InvokeFunction',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      'secretsmanager:GetSecretValue',
    ]);
    const further = Object.values(findResources(stage, 'AWS::IAM::Policy')).filter(({ Properties }) =>
      flattenAll(Properties.Roles).some((role) => role.startsWith('<PreTrafficRole')),
    );
    expect(JSON.stringify(further)).toContain('codedeploy:PutLifecycleEventHookExecutionStatus');
    expect(JSON.stringify(further).match(/"Action":/g)).toHaveLength(1);
  });
});
