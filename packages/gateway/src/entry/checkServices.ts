import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createDynamoClient, type DynamoClientSettings } from '../drivers/dynamodb/createDynamoClient.ts';
import type { Settings } from './settings.ts';

/** A finding about a service. */
export interface ServiceFinding {
  readonly ok: boolean;
  readonly found: string;
  /** The advice; empty if all is well. */
  readonly advice: string;
}

/** How long a service may take to answer, in milliseconds. */
const ANSWER_MS = 5000;

/** The service's name for what is wrong, or the system's, such as ECONNREFUSED. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' && 'code' in error ? String(error.code) : error.name;
}

async function findTable(client: DynamoDBClient, TableName: string): Promise<string> {
  try {
    const options = { abortSignal: AbortSignal.timeout(ANSWER_MS) };
    const { Table } = await client.send(new DescribeTableCommand({ TableName }), options);
    return Table?.TableStatus === 'ACTIVE' || Table?.TableStatus === 'UPDATING' ? '' : `${TableName} is not ready`;
  } catch (error) {
    if (nameOf(error) === 'ResourceNotFoundException') return `${TableName} is not there`;
    return `${TableName}: ${nameOf(error)}`;
  }
}

/**
 * Asks DynamoDB for the tables that the settings name.
 *
 * @param settings.tables - their names
 * @param access - where the engine is; what is not given is read as the AWS SDK reads it
 */
export async function checkTables(
  { tables, deliveriesTable }: Pick<Settings, 'tables' | 'deliveriesTable'>,
  access: DynamoClientSettings = {},
): Promise<ServiceFinding> {
  const client = createDynamoClient(access);
  try {
    const names = [...Object.values(tables), deliveriesTable];
    const faults = (await Promise.all(names.map((name) => findTable(client, name)))).filter(Boolean);
    if (faults.length === 0) {
      return { ok: true, found: `DynamoDB answers, with ${names.join(', ')}`, advice: '' };
    }
    const isMissing = faults.some((fault) => fault.endsWith('is not there'));
    const advice = isMissing
      ? 'Check STAGE and the names of the tables; npx prism create-tables or npm run deploy makes them.'
      : 'Check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB, the credentials and their rights, and the network.';
    return { ok: false, found: `DynamoDB: ${faults.join('; ')}`, advice };
  } finally {
    client.destroy();
  }
}

/** No object has it. */
const PROBE_KEY = 'prism-doctor';

/** A table's own entry: another service gives the name. */
const ownOf = (table: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** S3's answers for a missing object: without the right to list, not even that is shown. */
const ANSWERS: Readonly<Record<string, string>> = {
  NoSuchKey: 'answers',
  AccessDenied: 'answers; to these credentials it does not show which objects are there',
};

/** Advice by the name of S3's answer. */
const BUCKET_ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'Make the bucket, or set STORAGE_BUCKET to one that is there.',
};

/**
 * Asks S3 for an object of the settings' bucket, with no more rights than the gateway has.
 *
 * @param settings.STORAGE_BUCKET - its name
 * @param access - as `S3Client` takes it; what is not given is read as the AWS SDK reads it
 */
export async function checkBucket(
  {
    STORAGE_BUCKET: Bucket,
    S3_FORCE_PATH_STYLE: forcePathStyle,
  }: Pick<Settings, 'STORAGE_BUCKET' | 'S3_FORCE_PATH_STYLE'>,
  access: ConstructorParameters<typeof S3Client>[0] = {},
): Promise<ServiceFinding> {
  if (Bucket === undefined) return { ok: true, found: 'objects are on this disk', advice: '' };
  const client = new S3Client({ forcePathStyle, maxAttempts: 2, ...access });
  try {
    await client.send(new GetObjectCommand({ Bucket, Key: PROBE_KEY }), {
      abortSignal: AbortSignal.timeout(ANSWER_MS),
    });
    return { ok: true, found: `the bucket ${Bucket} answers`, advice: '' };
  } catch (error) {
    const name = nameOf(error);
    const answer = ownOf(ANSWERS, name);
    if (answer !== undefined) return { ok: true, found: `the bucket ${Bucket} ${answer}`, advice: '' };
    const usual = 'Check AWS_REGION, AWS_ENDPOINT_URL_S3, S3_FORCE_PATH_STYLE, the credentials and the network.';
    return { ok: false, found: `the bucket ${Bucket}: ${name}`, advice: ownOf(BUCKET_ADVICE, name) ?? usual };
  } finally {
    client.destroy();
  }
}
