import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../test/rigs/dynamoStores.ts';
import { runMigrateCommand } from './migrateTables.ts';

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const lines = { out: [] as string[], err: [] as string[] };
  const exitCode = await runMigrateCommand({
    args,
    env,
    print: (line) => lines.out.push(line),
    hint: (line) => lines.err.push(line),
  });
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

describe('the command that brings tables up to date', () => {
  test('explains itself', async () => {
    expect(await run(['--help'])).toMatchObject({ exitCode: 0, out: expect.stringContaining('--stage') });
  });

  test.each([[['--tabel', 'x']], [['extra']]])('names what is wrong with %j', async (args) => {
    expect(await run(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining(args[0]!) });
  });
});

describeWithDynamo('the command that brings tables up to date, with an engine', () => {
  let rig: DynamoRig;
  beforeAll(async () => {
    rig = await createDynamoRig();
  });
  afterAll(() => rig.dispose());

  test('says that nothing was left to do, as often as it is run', async () => {
    const env = { AWS_ENDPOINT_URL_DYNAMODB: rig.endpoint, REQUESTS_TABLE: DYNAMO_TABLES.requests };
    for (let i = 0; i < 2; i++) {
      expect(await run([], env)).toEqual({ exitCode: 0, out: expect.stringContaining('up to date; 0 '), err: '' });
    }
  });

  test('tells it to a program', async () => {
    const env = { AWS_ENDPOINT_URL_DYNAMODB: rig.endpoint, REQUESTS_TABLE: DYNAMO_TABLES.requests };
    const { exitCode, out } = await run(['--json'], env);
    expect([exitCode, JSON.parse(out)]).toEqual([0, { table: DYNAMO_TABLES.requests, added: 0 }]);
  });

  test('says which table is not there', async () => {
    const env = { AWS_ENDPOINT_URL_DYNAMODB: rig.endpoint };
    const absent = await run(['--stage', 'dev'], env);
    expect(absent).toMatchObject({ exitCode: 1, err: expect.stringContaining('no table service-requests-dev') });
  });
});
