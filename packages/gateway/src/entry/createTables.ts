/** `npx prism create-tables`: makes the tables that a gateway on DynamoDB needs. */
import { parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { createDynamoClient } from '../drivers/dynamodb/createDynamoClient.ts';
import { createTables } from '../drivers/dynamodb/createTables.ts';
import { dynamoAccess } from './dynamoAccess.ts';
import { requireRegion } from './openStores.ts';
import { parseSettings } from './settings.ts';

const HELP = `Makes the tables of a gateway on DynamoDB that are not there: on demand, with indexes, expiry and stream.

  npx prism create-tables     with the gateway's own environment: STAGE, the names of the tables, AWS_REGION and credentials

It changes nothing that is there, and sets neither backups nor protection. The stack on AWS makes its own.`;

async function makeTables(): Promise<void> {
  const environment = process.env;
  const { STAGE: stage, tables, deliveriesTable } = parseSettings({ ...environment, STORE: 'dynamodb' });
  const client = createDynamoClient(dynamoAccess({ stage, environment }));
  try {
    await requireRegion(client);
    const names = { ...tables, deliveries: deliveriesTable };
    await createTables(client, names);
    console.log(`${Object.values(names).join(', ')}: there`);
  } finally {
    client.destroy();
  }
}

async function main(args: string[]): Promise<number> {
  try {
    const options = { help: { type: 'boolean', short: 'h' } } as const;
    if (parseCommandLine({ options, args }).values.help === true) {
      console.log(HELP);
      return 0;
    }
  } catch (error) {
    console.error(writeFailure(process.argv, error instanceof Error ? error.message : String(error)));
    return USAGE_STATUS;
  }
  try {
    await makeTables();
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
