import { type CfnElement, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Alias, Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { GatewaySecrets } from './addSecrets.ts';
import type { StackContext } from './stackContext.ts';

interface ReleaseParts {
  /** What calls go to; CodeDeploy moves it from one version to the next. */
  readonly alias: Alias;
  readonly secrets: GatewaySecrets;
  /** What takes a version back. */
  readonly alarms: readonly Alarm[];
  /** Directory with the hook's built bundle. */
  readonly hookDirectory: string;
}

/** The canary plays a dozen calls, the first of which meets a cold start. */
const HOOK_SECONDS = 120;

function addHookRole({ stack, settings }: StackContext, { alias, secrets }: ReleaseParts, log: LogGroup): Role {
  const allow = (actions: readonly string[], resources: readonly string[]) =>
    new PolicyStatement({ actions: [...actions], resources: [...resources] });
  const { adminApiKey, originSecret } = secrets;
  const read = [adminApiKey, ...(originSecret === undefined ? [] : [originSecret])].map(({ secretArn }) => secretArn);
  const role = new Role(stack, 'PreTrafficRole', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `Prism Gateway ${settings.stage}: what the hook of a release may do`,
    inlinePolicies: {
      hook: new PolicyDocument({
        statements: [
          allow(['lambda:InvokeFunction'], [alias.version.functionArn]),
          allow(['secretsmanager:GetSecretValue'], read),
          allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.logGroupArn]),
        ],
      }),
    },
  });
  return role;
}

function addHook(context: StackContext, parts: ReleaseParts): LambdaFunction {
  const { stack, settings } = context;
  const { alias, secrets, hookDirectory } = parts;
  const functionName = `prism-gateway-${settings.stage}-pre-traffic`;
  const log = new LogGroup(stack, 'PreTrafficLog', {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return new LambdaFunction(stack, 'PreTraffic', {
    functionName,
    description: 'Prism Gateway: judges a new version before it gets calls',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 512,
    timeout: Duration.seconds(HOOK_SECONDS),
    code: Code.fromAsset(hookDirectory),
    handler: 'index.handler',
    role: addHookRole(context, parts, log),
    logGroup: log,
    environment: {
      VERSION_ARN: alias.version.functionArn,
      ADMIN_API_KEY_ARN: secrets.adminApiKey.secretArn,
      ...(secrets.originSecret !== undefined && { ORIGIN_SECRET_ARN: secrets.originSecret.secretArn }),
    },
  });
}

/**
 * Adds how a new version comes to its calls: a hook judges it before the first one, a tenth of the calls goes to it for ten minutes,
 * and the alarms take it back; only then it gets the others.
 *
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function addRelease(context: StackContext, parts: ReleaseParts): LambdaDeploymentGroup {
  const { alias, alarms } = parts;
  const preHook = addHook(context, parts);
  const group = new LambdaDeploymentGroup(context.stack, 'Release', {
    alias,
    alarms: [...alarms],
    preHook,
    deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
  });
  // The hook must know of the new version before it is asked about it.
  alias.node.addDependency(preHook);
  // A function's default child is its CloudFormation resource.
  const hookId = context.stack.getLogicalId(preHook.node.defaultChild as CfnElement);
  Validations.of(group).acknowledge(
    {
      id: `AwsSolutions-IAM5[Resource::<${hookId}.Arn>:*]`,
      reason:
        "CodeDeploy runs the hook, and the construct library grants it the hook's versions too: of this one function.",
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason:
        "CodeDeploy's own policy for Lambda, the limited one: it moves aliases, reads alarms and runs hooks, and AWS keeps it current.",
    },
  );
  return group;
}
