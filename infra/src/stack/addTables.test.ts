import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TableNames } from '@prism-gateway/gateway/deployment';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { describe, expect, it } from 'vitest';
import {
  createDynamoRig,
  DYNAMO_TABLES,
  describeWithDynamo,
} from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { STAGES } from '../rig/exampleSettings.ts';
import { findResources, readTemplate } from '../rig/readTemplate.ts';

const NAMES = ['requests', 'relayers', 'ratelimit', 'deliveries'] as const;

describe.each(STAGES)('tables of %s', (stage) => {
  const tables = Object.values(findResources(stage, 'AWS::DynamoDB::Table'));

  it('are the stores and the deliveries, by the names of the specification', () => {
    expect(tables.map(({ Properties }) => Properties.TableName).sort()).toEqual(
      NAMES.map((name) => `service-${name}-${stage}`).sort(),
    );
  });

  it('tell of moves by a stream of the requests’ table alone', () => {
    const streams = tables.map(({ Properties }) => [Properties.TableName, Properties.StreamSpecification]);
    const reported = streams.filter(([, stream]) => stream !== undefined);
    expect(reported).toEqual([[`service-requests-${stage}`, { StreamViewType: 'NEW_AND_OLD_IMAGES' }]]);
  });

  it('are on demand up to a ceiling, and those that hold more than counters can be restored to any second', () => {
    const ceiling = stage === 'prod' ? [4000, 8000] : [400, 800];
    const OnDemandThroughput = { MaxWriteRequestUnits: ceiling[0], MaxReadRequestUnits: ceiling[1] };
    for (const { Properties } of tables) {
      expect(Properties.BillingMode).toBe('PAY_PER_REQUEST');
      expect(Properties).not.toHaveProperty('ProvisionedThroughput');
      // CloudFormation's own form.
      const indexes = (Properties.GlobalSecondaryIndexes ?? []) as readonly Record<string, unknown>[];
      for (const limited of [Properties, ...indexes]) expect(limited).toMatchObject({ OnDemandThroughput });
      expect(Properties.PointInTimeRecoverySpecification).toEqual({
        PointInTimeRecoveryEnabled: Properties.TableName !== `service-ratelimit-${stage}`,
      });
    }
  });

  it('cannot be deleted in prod, not even with the stack', () => {
    for (const { Properties, DeletionPolicy } of tables) {
      expect(Properties.DeletionProtectionEnabled).toEqual(
        stage === 'prod' ? { 'Fn::If': ['IsProtected', true, false] } : undefined,
      );
      expect(DeletionPolicy).toBe(stage === 'prod' ? 'RetainExceptOnCreate' : 'Delete');
    }
  });

  it('forget counters and expired requests, and never a relayer', () => {
    const expiring = { TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true } };
    const template = readTemplate(stage, 'Data');
    template.hasResourceProperties('AWS::DynamoDB::Table', { TableName: `service-requests-${stage}`, ...expiring });
    template.hasResourceProperties('AWS::DynamoDB::Table', { TableName: `service-ratelimit-${stage}`, ...expiring });
    const relayers = tables.find(({ Properties }) => Properties.TableName === `service-relayers-${stage}`);
    expect(relayers?.Properties).not.toHaveProperty('TimeToLiveSpecification');
  });
});

/** The parts of a table that keys and indexes are made of, in one order. */
function shapeOf(attributes: unknown, keys: unknown, indexes: unknown): unknown {
  const byJson = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  const list = (value: unknown) => (Array.isArray(value) ? value : []);
  return {
    attributes: list(attributes).sort(byJson),
    keys,
    indexes: list(indexes)
      .map(({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }))
      .sort(byJson),
  };
}

describeWithDynamo('tables and the driver', () => {
  it('are made alike here and by the driver on a local engine', async () => {
    await using rig = await createDynamoRig();
    const client = new DynamoDBClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });
    const kinds: Readonly<Record<keyof TableNames, string>> = {
      requests: 'requests',
      relayers: 'relayers',
      rateLimits: 'ratelimit',
    };
    for (const [kind, TableName] of Object.entries(DYNAMO_TABLES)) {
      const { Table } = await client.send(new DescribeTableCommand({ TableName }));
      const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
      // Both records have these keys.
      const name = `service-${kinds[kind as keyof TableNames]}-prod`;
      const made = Object.values(findResources('prod', 'AWS::DynamoDB::Table')).find(
        ({ Properties }) => Properties.TableName === name,
      )?.Properties;
      expect(shapeOf(made?.AttributeDefinitions, made?.KeySchema, made?.GlobalSecondaryIndexes)).toEqual(
        shapeOf(Table?.AttributeDefinitions, Table?.KeySchema, Table?.GlobalSecondaryIndexes),
      );
      expect(made?.TimeToLiveSpecification).toEqual(
        TimeToLiveDescription?.AttributeName === undefined
          ? undefined
          : { AttributeName: TimeToLiveDescription.AttributeName, Enabled: true },
      );
    }
    client.destroy();
  });
});
