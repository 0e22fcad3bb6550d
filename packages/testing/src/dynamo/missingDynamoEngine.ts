import { spawnSync } from 'node:child_process';
import { DynamoEngineMissingError } from './dynamoServer.ts';
import { findDynoxide } from './startDynoxide.ts';

/** Whether Java can start a program from its source: a development kit can, a bare runtime cannot. */
function hasJavaCompiler(): boolean {
  const { status, stdout } = spawnSync('java', ['--list-modules'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('jdk.compiler@');
}

/**
 * Checks before any test begins whether `startDynamo` can start its engine here.
 *
 * @returns what is missing, as a sentence; undefined: nothing
 */
export function missingDynamoEngine(): string | undefined {
  if (process.env.DYNAMODB_ENGINE === 'dynamodb-local') {
    return hasJavaCompiler() ? undefined : 'DynamoDB Local needs a Java development kit of version 17 or later.';
  }
  try {
    findDynoxide();
    return undefined;
  } catch (error) {
    if (error instanceof DynamoEngineMissingError) return error.message;
    throw error;
  }
}
