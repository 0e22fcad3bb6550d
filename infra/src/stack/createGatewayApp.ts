import { App, CfnOutput, CfnParameter, Stack, Tags, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { EDGE_REGION, type EdgeSettings, type StageSettings } from '../settings/stageSettings.ts';
import { addAlarms } from './addAlarms.ts';
import { addBucket } from './addBucket.ts';
import { addBudget } from './addBudget.ts';
import { addDashboard } from './addDashboard.ts';
import { addDistribution } from './addDistribution.ts';
import { addFunction } from './addFunction.ts';
import { addFunctionUrl } from './addFunctionUrl.ts';
import { addQueueWatch } from './addQueueWatch.ts';
import { addRelease } from './addRelease.ts';
import { addSecrets, type GatewaySecrets } from './addSecrets.ts';
import { addTables } from './addTables.ts';
import { addWebAcl } from './addWebAcl.ts';
import { addWebhooks } from './addWebhooks.ts';
import type { StackContext } from './stackContext.ts';

interface Bundles {
  /** Directory with the function's built bundle. */
  readonly bundleDirectory: string;
  /** Directory with that of the hook that checks it. */
  readonly hookDirectory: string;
  /** Directory with that of the functions that deliver webhooks. */
  readonly webhooksDirectory: string;
}

export interface GatewayAppOptions extends Bundles {
  readonly settings: StageSettings;
  /** Where the synthesised app goes. */
  readonly outputDirectory: string;
}

function addOutputs(stack: Stack, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) new CfnOutput(stack, name, { value });
}

/** The stacks of a stage, in the order in which they are made: each needs those before it. */
export const STACK_PARTS = ['Data', 'Service', 'Edge'] as const;

export type StackPart = (typeof STACK_PARTS)[number];

/** Names a stage's stack as CloudFormation knows it. */
export const stackNameOf = (stage: string, part: StackPart) => `prism-gateway-${stage}-${part.toLowerCase()}`;

interface GatewayData {
  readonly requests: Table;
  readonly bucket: Bucket;
  readonly secrets: GatewaySecrets;
}

/** Makes the resources that must not be lost. */
function fillData(context: StackContext): GatewayData {
  const { requests } = addTables(context);
  const bucket = addBucket(context);
  const secrets = addSecrets(context);
  addOutputs(context.stack, {
    BucketName: bucket.bucketName,
    AdminApiKeyArn: secrets.adminApiKey.secretArn,
    CursorSecretArn: secrets.cursorSecret.secretArn,
    ...(secrets.originSecret !== undefined && { OriginSecretArn: secrets.originSecret.secretArn }),
  });
  return { requests, bucket, secrets };
}

/** Parameter of the service's stack: what is known only once the edge is there. */
export const EDGE_URL_PARAMETER = 'EdgeUrl';

/** The first time there is no edge yet; nobody knows of the function by then. */
const addEdgeUrl = (stack: Stack) =>
  new CfnParameter(stack, EDGE_URL_PARAMETER, {
    description: 'Where clients call: the address of the edge',
    default: '',
  }).valueAsString;

/** Makes the resources that can be made again at any time. */
function fillService(context: StackContext, data: GatewayData, bundles: Bundles): void {
  const { bundleDirectory, hookDirectory, webhooksDirectory } = bundles;
  const edgeUrl = context.settings.edge && addEdgeUrl(context.stack);
  const target = addFunction(context, { ...data, bundleDirectory, edgeUrl });
  // Casts: the library's own types differ in `undefined` where its own classes implement its own interfaces.
  const alias = new Alias(context.stack, 'Live', { aliasName: 'live', version: target.currentVersion as IVersion });
  const live = alias as IFunction;
  addQueueWatch(context, live);
  const { url, host } = addFunctionUrl(alias);
  const { alarms, releaseAlarms, topic } = addAlarms(context, target);
  addRelease(context, { alias, secrets: data.secrets, alarms: releaseAlarms, hookDirectory, edgeUrl });
  addBudget(context);
  addDashboard(context, { target, alarms, functionLog: target.logGroup });
  addWebhooks(context, { requests: data.requests, topic, webhooksDirectory });
  addOutputs(context.stack, {
    Url: url,
    Host: host,
    FunctionName: target.functionName,
    AlarmTopicArn: topic.topicArn,
  });
}

/** Makes the edge in front of the service. */
function fillEdge(context: StackContext, edge: EdgeSettings): void {
  const { url, target } = addDistribution(context, addWebAcl(context, edge));
  addOutputs(context.stack, { Url: url, DomainTarget: target });
}

/**
 * Makes the CDK app with one stage's stacks in it, checked by cdk-nag and CloudFormation's validator when it is synthesised. It asks
 * AWS for nothing.
 *
 * @returns the app; `synth()` writes it, and throws if a rule is broken without an acknowledgement
 */
export function createGatewayApp({ settings, outputDirectory, ...bundles }: GatewayAppOptions): App {
  const { stage, region, edge } = settings;
  const app = new App({
    outdir: outputDirectory,
    analyticsReporting: false,
    // The synthesis fails, and does not only warn, for a template that CloudFormation would refuse.
    postCliContext: { '@aws-cdk/core:validateAgainstDefaultRules': true },
  });
  const addStack = (part: StackPart, stackRegion: string | undefined): StackContext => ({
    settings,
    stack: new Stack(app, part, {
      stackName: stackNameOf(stage, part),
      description: `Prism Gateway, ${stage}: ${part.toLowerCase()}`,
      terminationProtection: stage === 'prod',
      ...(stackRegion !== undefined && { env: { region: stackRegion } }),
    }),
  });
  // Not every region's CloudFormation takes tags of a dashboard yet.
  const tagged = { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] };
  Tags.of(app).add('service', 'prism-gateway', tagged);
  Tags.of(app).add('stage', stage, tagged);
  const data = fillData(addStack('Data', region));
  fillService(addStack('Service', region), data, bundles);
  if (edge !== undefined) fillEdge(addStack('Edge', EDGE_REGION), edge);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
