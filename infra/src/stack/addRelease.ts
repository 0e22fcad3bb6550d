import { type CfnElement, CfnParameter, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Alias, Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { GatewaySecrets } from './addSecrets.ts';
import type { StackContext } from './stackContext.ts';

interface ReleaseParts {
  /** The target of calls; CodeDeploy moves it from one version to the next. */
  readonly alias: Alias;
  readonly secrets: GatewaySecrets;
  /** Alarms that roll a version back. */
  readonly alarms: readonly Alarm[];
  /** Directory with the hooks' built bundle. */
  readonly hookDirectory: string;
  /** Where clients call the edge; undefined: there is none, and nothing that the first hook does not see. */
  readonly edgeUrl: string | undefined;
}

/** The canary plays a dozen calls, the first of which meets a cold start. */
const HOOK_SECONDS = 120;

/** Parameter of the stack: which of CodeDeploy's own configurations moves the alias. */
export const RELEASE_PARAMETER = 'ReleaseMode';
/** In steps, or at once: what revokes or rolls back waits for nobody. */
export const RELEASE_MODES = {
  inSteps: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
  now: 'CodeDeployDefault.LambdaAllAtOnce',
} as const;

/** How a hook reaches what it checks. */
interface Hook {
  readonly id: 'PreTraffic' | 'PostTraffic';
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Versions that it may call. */
  readonly callable: readonly string[];
  /** Secrets that it reads. */
  readonly secrets: readonly string[];
}

function hooksOf({ alias, secrets, edgeUrl }: ReleaseParts): { readonly pre: Hook; readonly post: Hook | undefined } {
  const { adminApiKey, originSecret } = secrets;
  const ADMIN_API_KEY_ARN = adminApiKey.secretArn;
  const origin = originSecret?.secretArn;
  return {
    pre: {
      ...{ id: 'PreTraffic', description: 'checks a new version before it gets calls' },
      environment: {
        ADMIN_API_KEY_ARN,
        VERSION_ARN: alias.version.functionArn,
        ...(origin !== undefined && { ORIGIN_SECRET_ARN: origin }),
      },
      callable: [alias.version.functionArn],
      secrets: [ADMIN_API_KEY_ARN, ...(origin === undefined ? [] : [origin])],
    },
    post:
      edgeUrl === undefined
        ? undefined
        : {
            ...{ id: 'PostTraffic', description: 'checks a new version as clients call it' },
            environment: { ADMIN_API_KEY_ARN, PUBLIC_URL: edgeUrl },
            callable: [],
            secrets: [ADMIN_API_KEY_ARN],
          },
  };
}

function addHook({ stack, settings }: StackContext, hook: Hook, hookDirectory: string): LambdaFunction {
  const { id, description, environment, callable, secrets } = hook;
  const functionName = `prism-gateway-${settings.stage}-${id === 'PreTraffic' ? 'pre' : 'post'}-traffic`;
  const logGroup = new LogGroup(stack, `${id}Log`, {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const allow = (action: readonly string[], resources: readonly string[]) =>
    resources.length === 0 ? [] : [new PolicyStatement({ actions: [...action], resources: [...resources] })];
  const statements = [
    ...allow(['lambda:InvokeFunction'], callable),
    ...allow(['secretsmanager:GetSecretValue'], secrets),
    ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
  ];
  const role = new Role(stack, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `Prism Gateway ${settings.stage}: what a hook of a release may do`,
    inlinePolicies: { hook: new PolicyDocument({ statements }) },
  });
  return new LambdaFunction(stack, id, {
    ...{ functionName, description: `Prism Gateway: ${description}`, handler: 'index.handler', role, logGroup },
    ...{ runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64, memorySize: 512 },
    timeout: Duration.seconds(HOOK_SECONDS),
    code: Code.fromAsset(hookDirectory),
    environment: { ...environment },
  });
}

function acknowledgeRights({ stack }: StackContext, group: LambdaDeploymentGroup, hooks: readonly LambdaFunction[]) {
  for (const hook of hooks) {
    // A function's default child is its CloudFormation resource.
    const hookId = stack.getLogicalId(hook.node.defaultChild as CfnElement);
    Validations.of(group).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${hookId}.Arn>:*]`,
      reason:
        "CodeDeploy runs the hook, and the construct library grants it the hook's versions too: of this one function.",
    });
  }
  Validations.of(group).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      "CodeDeploy's own policy for Lambda, the limited one: it moves aliases, reads alarms and runs hooks, and AWS keeps it current.",
  });
}

/**
 * Adds how a new version comes to its calls: a hook checks it before the first one, a tenth of the calls goes to it for ten minutes (with
 * `--now` all of them at once), the alarms take it back, and a second hook calls it the way clients do.
 *
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function addRelease(context: StackContext, parts: ReleaseParts): LambdaDeploymentGroup {
  const { alias, alarms, hookDirectory } = parts;
  const { stack } = context;
  const { pre, post } = hooksOf(parts);
  const preHook = addHook(context, pre, hookDirectory);
  const postHook = post && addHook(context, post, hookDirectory);
  const hooks = postHook === undefined ? [preHook] : [preHook, postHook];
  const mode = new CfnParameter(stack, RELEASE_PARAMETER, {
    description: 'How a new version comes to its calls',
    allowedValues: Object.values(RELEASE_MODES),
    default: RELEASE_MODES.inSteps,
  });
  const group = new LambdaDeploymentGroup(stack, 'Release', {
    ...{ alias, alarms: [...alarms], preHook, ...(postHook !== undefined && { postHook }) },
    deploymentConfig: LambdaDeploymentConfig.fromLambdaDeploymentConfigName(stack, 'ReleaseConfig', mode.valueAsString),
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
  });
  // The hooks must know of the new version, and the group how it is to come, before the alias moves.
  alias.node.addDependency(...hooks, group);
  acknowledgeRights(context, group, hooks);
  return group;
}
