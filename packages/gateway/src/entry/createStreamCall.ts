import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Environment } from '@prism-gateway/runtime/settings';
import { signedPost } from '../drivers/aws/signedPost.ts';
import type { StreamCall } from '../drivers/dynamodb/stream/createStreamApi.ts';

/** For one call, in milliseconds. */
const TIMEOUT_MS = 5000;

/**
 * Where streams are asked: AWS has hosts of their own for them, local engines do not.
 *
 * @see https://docs.aws.amazon.com/general/latest/gr/ddb.html
 */
export function streamEndpoint(environment: Environment, region: string): URL {
  const { AWS_ENDPOINT_URL_DYNAMODB_STREAMS: own, AWS_ENDPOINT_URL_DYNAMODB: tables, AWS_ENDPOINT_URL } = environment;
  const isEngine = (url: string) => !/\.amazonaws\.com(\.cn)?$/.test(new URL(url).hostname);
  const given = own || (tables && isEngine(tables) ? tables : '') || AWS_ENDPOINT_URL;
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL('/', given || `https://streams.dynamodb.${region}.${suffix}`);
}

/** Makes calls of the API of streams with the region and the credentials of a table's client: the AWS SDK has a package of its own for them. */
export function createStreamCall(client: DynamoDBClient, environment: Environment): StreamCall {
  return async function call(operation, body) {
    const [region, credentials] = await Promise.all([client.config.region(), client.config.credentials()]);
    const endpoint = streamEndpoint(environment, region);
    const target = `DynamoDBStreams_20120810.${operation}`;
    const post = { service: 'dynamodb', region, endpoint, target, body, timeoutMs: TIMEOUT_MS };
    return await signedPost(
      { ...post, contentType: 'application/x-amz-json-1.0' },
      {
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_SESSION_TOKEN: credentials.sessionToken,
      },
    );
  };
}
