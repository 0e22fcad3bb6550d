import { parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import type { Environment } from '@prism-gateway/runtime/settings';
import { createDynamoClient } from '../drivers/dynamodb/createDynamoClient.ts';
import { migrateTable } from '../drivers/dynamodb/migrateTable.ts';
import { dynamoAccess, localEndpoint } from './dynamoAccess.ts';

/** What the command needs of its surroundings. */
export interface MigrateCommand {
  /** Arguments after the script's name. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** Takes a line for stdout. */
  readonly print: (line: string) => void;
  /** Takes a line for stderr. */
  readonly hint: (line: string) => void;
}

const HELP = `Brings the requests' table of an earlier version on DynamoDB up to date.

  npm run migrate-tables -- --stage prod    the table service-requests-prod

  --stage STAGE    default STAGE, else dev
  --table NAME     default REQUESTS_TABLE, else service-requests-STAGE
  --json           one line at the end: {"table":…,"added":…}; what goes on meanwhile is told on stderr
  --help           this text

It makes the indexes that are missing, one after another, puts what is pending into that of its chain, and lets what has
succeeded be found by its transaction. Gateways of the earlier version may work on meanwhile; run it once more when the
last of them has ended. It may be run any number of times. Region and credentials are read as the AWS SDK reads them; they
need DescribeTable, UpdateTable, Query, BatchGetItem, PutItem and UpdateItem.`;

function readArguments({ args, env }: MigrateCommand) {
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      ...{ stage: { type: 'string' }, table: { type: 'string' } },
      ...{ json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    },
  });
  const stage = values.stage ?? (env.STAGE || 'dev');
  const table = values.table ?? (env.REQUESTS_TABLE || `service-requests-${stage}`);
  return { stage, table, json: values.json === true, help: values.help === true };
}

/** Says in one sentence why it could not be done. */
function describeFailure(error: unknown, table: string): string {
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', String(error)];
  if (name === 'ResourceNotFoundException')
    return `There is no table ${table}: set --stage or --table, and the region.`;
  return `${table} could not be brought up to date; run it again. (${message})`;
}

/**
 * `npm run migrate-tables`: brings the requests' table of an earlier version up to date.
 *
 * @param command - arguments and surroundings
 * @returns the exit code: 0; after one sentence on what is wrong 2 for the arguments, 1 for all else
 * @see docs/scaling.md "Tables of an earlier version"
 */
export async function runMigrateCommand(command: MigrateCommand): Promise<number> {
  let order: ReturnType<typeof readArguments>;
  try {
    order = readArguments(command);
  } catch (error) {
    command.hint(writeFailure(command.args, error instanceof Error ? error.message : 'The arguments are wrong.'));
    return USAGE_STATUS;
  }
  if (order.help) {
    command.print(HELP);
    return 0;
  }
  const access = { stage: order.stage, environment: command.env };
  const endpoint = localEndpoint(access);
  const client = createDynamoClient({ ...dynamoAccess(access), ...(endpoint !== undefined && { endpoint }) });
  try {
    const tell = order.json ? command.hint : command.print;
    const added = await migrateTable({ client, name: order.table, tell });
    if (order.json) command.print(JSON.stringify({ table: order.table, added }));
    return 0;
  } catch (error) {
    command.hint(writeFailure(command.args, describeFailure(error, order.table)));
    return 1;
  } finally {
    client.destroy();
  }
}

if (import.meta.main) {
  process.exitCode = await runMigrateCommand({
    args: process.argv.slice(2),
    env: process.env,
    print: (line) => console.log(line),
    hint: (line) => console.error(line),
  });
}
