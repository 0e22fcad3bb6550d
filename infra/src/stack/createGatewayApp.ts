import { App, CfnOutput, Stack, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { StageSettings } from '../settings/stageSettings.ts';
import { addAlarms } from './addAlarms.ts';
import { addBucket } from './addBucket.ts';
import { addDashboard } from './addDashboard.ts';
import { addFunction } from './addFunction.ts';
import { addHttpApi } from './addHttpApi.ts';
import { addQueueWatch } from './addQueueWatch.ts';
import { addSecrets } from './addSecrets.ts';
import { addTables } from './addTables.ts';
import type { StackContext } from './stackContext.ts';

export interface GatewayAppOptions {
  readonly settings: StageSettings;
  /** Directory with the function's built bundle. */
  readonly bundleDirectory: string;
  /** Where the synthesised app goes. */
  readonly outputDirectory: string;
}

function addOutputs(stack: Stack, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) new CfnOutput(stack, name, { value });
}

function fillStack(context: StackContext, bundleDirectory: string): void {
  const { stack } = context;
  addTables(context);
  const bucket = addBucket(context);
  const secrets = addSecrets(context);
  const target = addFunction(context, { bucket, secrets, bundleDirectory });
  addQueueWatch(context, target);
  const { api, url, domainTarget } = addHttpApi(context, target);
  const { alarms, topic } = addAlarms(context, { api, target });
  addDashboard(context, { api, target, alarms, functionLog: target.logGroup });
  addOutputs(stack, {
    Url: url,
    FunctionName: target.functionName,
    BucketName: bucket.bucketName,
    AdminApiKeyArn: secrets.adminApiKey.secretArn,
    AlarmTopicArn: topic.topicArn,
    ...(domainTarget !== undefined && { ApiEndpoint: api.apiEndpoint, DomainTarget: domainTarget }),
  });
}

/**
 * Makes the CDK app with one stage's stack in it, checked by cdk-nag when it is synthesised. It asks AWS for nothing.
 *
 * @returns the app; `synth()` writes it, and throws where a rule is broken without an acknowledgement
 */
export function createGatewayApp({ settings, bundleDirectory, outputDirectory }: GatewayAppOptions): App {
  const { stage, region } = settings;
  const app = new App({ outdir: outputDirectory, analyticsReporting: false });
  const stack = new Stack(app, 'Gateway', {
    stackName: `prism-gateway-${stage}`,
    description: `Prism Gateway, ${stage}`,
    terminationProtection: stage === 'prod',
    ...(region !== undefined && { env: { region } }),
  });
  Tags.of(app).add('service', 'prism-gateway');
  Tags.of(app).add('stage', stage);
  fillStack({ stack, settings }, bundleDirectory);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
