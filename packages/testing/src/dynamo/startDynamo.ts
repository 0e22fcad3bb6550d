import type { DynamoServer } from './dynamoServer.ts';
import { startDynamoDbLocal } from './startDynamoDbLocal.ts';
import { startDynoxide } from './startDynoxide.ts';

/** Makes a first call, whatever its answer: a machine of Java takes seconds for it, longer than a gateway waits. */
async function callOnce(endpoint: string): Promise<void> {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    authorization:
      'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  };
  await fetch(endpoint, { method: 'POST', headers, body: '{}' }).then(
    (answer) => answer.text(),
    () => undefined,
  );
}

/**
 * Starts the engine that `DYNAMODB_ENGINE` names: `dynoxide` (the default) or `dynamodb-local`.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError where it cannot run on this machine
 */
export async function startDynamo(): Promise<DynamoServer> {
  const engine = process.env.DYNAMODB_ENGINE ?? 'dynoxide';
  if (engine === 'dynoxide') return await startDynoxide();
  if (engine === 'dynamodb-local') {
    const server = await startDynamoDbLocal();
    await callOnce(server.endpoint);
    return server;
  }
  throw new Error(`DYNAMODB_ENGINE is ${engine}: expected dynoxide or dynamodb-local.`);
}
