import { type Environment, SettingsError } from '@prism-gateway/node/settings';
import type { DynamoClientSettings } from '../drivers/dynamodb/createDynamoClient.ts';
import { isLoopback } from './isLoopback.ts';

/** The facts that decide how DynamoDB is reached. */
interface AccessContext {
  readonly stage: string;
  readonly environment: Environment;
}

/** Access that local engines take; they check neither region nor keys. */
const LOCAL_ACCESS = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } as const;

/** The endpoint that the AWS SDK will read, if it is on this machine. @throws SettingsError for one that is no URL */
export function localEndpoint({ stage, environment }: AccessContext): string | undefined {
  const name = environment.AWS_ENDPOINT_URL_DYNAMODB ? 'AWS_ENDPOINT_URL_DYNAMODB' : 'AWS_ENDPOINT_URL';
  const endpoint = environment[name];
  if (!endpoint) return undefined;
  if (!URL.canParse(endpoint)) throw new SettingsError([`${name}: expected an http or https URL`]);
  return stage === 'dev' && isLoopback(endpoint) ? endpoint : undefined;
}

/** Gives a local engine a region and keys, for which the AWS SDK would otherwise look in vain. */
export function dynamoAccess(context: AccessContext): DynamoClientSettings {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE } = context.environment;
  const region = AWS_REGION || AWS_DEFAULT_REGION;
  const given = region ? { region } : {};
  if (localEndpoint(context) === undefined || AWS_PROFILE) return given;
  return AWS_ACCESS_KEY_ID ? { region: LOCAL_ACCESS.region, ...given } : { ...LOCAL_ACCESS, ...given };
}
