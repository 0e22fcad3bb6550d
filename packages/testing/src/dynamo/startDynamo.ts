import type { DynamoServer } from './dynamoServer.ts';
import { startDynamoDbLocal } from './startDynamoDbLocal.ts';
import { startDynoxide } from './startDynoxide.ts';

/**
 * Starts the engine that `DYNAMODB_ENGINE` names: `dynoxide` (the default) or `dynamodb-local`.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError where it cannot run on this machine
 */
export async function startDynamo(): Promise<DynamoServer> {
  const engine = process.env.DYNAMODB_ENGINE ?? 'dynoxide';
  if (engine === 'dynoxide') return await startDynoxide();
  if (engine === 'dynamodb-local') return await startDynamoDbLocal();
  throw new Error(`DYNAMODB_ENGINE is ${engine}: expected dynoxide or dynamodb-local.`);
}
