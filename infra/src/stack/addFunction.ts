import { DEPLOYED_LIMITS } from '@prism-gateway/gateway/deployment';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { CANARY_CHAIN } from '../hook/canaryChain.ts';
import { addRole } from './addRole.ts';
import type { GatewaySecrets } from './addSecrets.ts';
import { deliveriesName } from './addWebhooks.ts';
import type { StackContext } from './stackContext.ts';

interface FunctionParts {
  readonly bucket: Bucket;
  readonly secrets: GatewaySecrets;
  /** Directory with the built bundle. */
  readonly bundleDirectory: string;
  /** Where clients call the edge; undefined: there is none. */
  readonly edgeUrl: string | undefined;
}

/** @see docs/specification.md AWS-1 */
const MEMORY_MB = 256;
const TIMEOUT_SECONDS = 29;

function environmentOf(
  { settings }: StackContext,
  { bucket, secrets, edgeUrl }: FunctionParts,
): Record<string, string> {
  const { stage, tables, identityAppSecretArn, secretsRevision, gateway } = settings;
  return {
    // More shards carry more than this deployment does, and each is read by every look at the queue; it may grow at any time.
    INDEX_SHARDS: '1',
    RATE_LIMIT_WRITE_BYTES: String(DEPLOYED_LIMITS.writeBytesAMinute),
    ...gateway,
    // The hook of a release plays its request on a chain of its own.
    ...(gateway.CHAINS !== undefined && { CHAINS: `${gateway.CHAINS},${CANARY_CHAIN}` }),
    STAGE: stage,
    REQUESTS_TABLE: tables.requests,
    RELAYERS_TABLE: tables.relayers,
    RATELIMIT_TABLE: tables.rateLimits,
    DELIVERIES_TABLE: deliveriesName({ settings }),
    WEBHOOKS: settings.hasWebhooks ? 'on' : 'off',
    STORAGE_BUCKET: bucket.bucketName,
    ADMIN_API_KEY_ARN: secrets.adminApiKey.secretArn,
    CURSOR_SECRET_ARN: secrets.cursorSecret.secretArn,
    ...(secrets.originSecret !== undefined && { ORIGIN_SECRET_ARN: secrets.originSecret.secretArn }),
    // Never the function's own address, which is for the edge alone.
    ...(edgeUrl !== undefined && { PUBLIC_URL: edgeUrl }),
    ...(identityAppSecretArn !== undefined && { IDENTITY_APP_SECRET_ARN: identityAppSecretArn }),
    // The gateway does not read it; Lambda starts new instances for any change here.
    ...(secretsRevision !== undefined && { SECRETS_REVISION: secretsRevision }),
  };
}

/** Adds the function: the gateway's bundle. */
export function addFunction(context: StackContext, parts: FunctionParts): LambdaFunction {
  const { stack, settings } = context;
  const functionName = `prism-gateway-${settings.stage}`;
  const logGroupName = `/aws/lambda/${functionName}`;
  const logGroup = new LogGroup(stack, 'FunctionLog', {
    logGroupName,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return new LambdaFunction(stack, 'Function', {
    functionName,
    description: 'Prism Gateway: request queue and presigned URLs',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: MEMORY_MB,
    timeout: Duration.seconds(TIMEOUT_SECONDS),
    code: Code.fromAsset(parts.bundleDirectory),
    handler: 'index.handler',
    role: addRole(context, { ...parts, logGroupName }),
    logGroup,
    environment: environmentOf(context, parts),
    // Lambda's own three lines a call would be half of the log, which is paid for by its size.
    loggingFormat: LoggingFormat.JSON,
    systemLogLevelV2: SystemLogLevel.WARN,
    // A roll-back in seconds is a move of the alias to a version that is still there.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
    ...(settings.reservedConcurrency > 0 && { reservedConcurrentExecutions: settings.reservedConcurrency }),
  });
}
