/** The hooks that CodeDeploy runs before a new version of the gateway gets its first call, and once it has all of them, as functions of AWS Lambda. */

import { CodeDeployClient, PutLifecycleEventHookExecutionStatusCommand } from '@aws-sdk/client-codedeploy';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { createSecretReader } from '@prism-gateway/gateway/deployment';
import { createHook } from './createHook.ts';

const { VERSION_ARN = '', ADMIN_API_KEY_ARN = '', ORIGIN_SECRET_ARN, PUBLIC_URL } = process.env;
const lambda = new LambdaClient({});
const codeDeploy = new CodeDeployClient({});
const readSecret = createSecretReader(process.env);

export const handler = createHook({
  publicUrl: PUBLIC_URL,
  async invoke(event) {
    const call = { FunctionName: VERSION_ARN, Payload: JSON.stringify(event) };
    const { Payload, FunctionError } = await lambda.send(new InvokeCommand(call));
    if (FunctionError !== undefined) throw new Error('The new version ended without an answer: see its log.');
    return JSON.parse(Payload?.transformToString() ?? 'null');
  },
  readAdminKey: () => readSecret(ADMIN_API_KEY_ARN),
  readOriginSecret: async () => (ORIGIN_SECRET_ARN ? await readSecret(ORIGIN_SECRET_ARN) : undefined),
  async report({ DeploymentId, LifecycleEventHookExecutionId }, status) {
    const reported = {
      deploymentId: DeploymentId,
      lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
      status,
    };
    await codeDeploy.send(new PutLifecycleEventHookExecutionStatusCommand(reported));
  },
  log: (line) => console.log(line),
});
