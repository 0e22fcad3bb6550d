import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/exampleSettings.ts';
import { findOnly, findResources } from '../rig/readTemplate.ts';

describe.each(STAGES)('webhooks of %s', (stage) => {
  const mapping = (word: string) => findOnly(stage, 'AWS::Lambda::EventSourceMapping', word).Properties;

  it('have a queue whose messages end among the dead ones, both encrypted and by TLS only', () => {
    const queues = Object.values(findResources(stage, 'AWS::SQS::Queue')).map(({ Properties }) => Properties);
    expect(queues).toHaveLength(2);
    for (const properties of queues) expect(properties).toMatchObject({ SqsManagedSseEnabled: true });
    expect(queues.filter(({ RedrivePolicy }) => RedrivePolicy !== undefined)).toMatchObject([
      { RedrivePolicy: { maxReceiveCount: 5 }, VisibilityTimeout: 360 },
    ]);
    expect(Object.values(findResources(stage, 'AWS::SQS::QueuePolicy'))).toHaveLength(2);
  });

  it('follow moves alone, and give a batch up to the dead ones', () => {
    const { FilterCriteria, DestinationConfig, ...rest } = mapping('WebhookStream');
    expect(rest).toMatchObject({ StartingPosition: 'TRIM_HORIZON', BisectBatchOnFunctionError: true });
    expect(JSON.stringify(rest.EventSourceArn)).toMatch(/RequestsTable.*StreamArn/);
    expect(JSON.stringify(DestinationConfig)).toContain('WebhookDeadLetters');
    // As CloudFormation has them: each a text.
    const { Filters } = FilterCriteria as { readonly Filters: readonly { readonly Pattern: string }[] };
    expect(Filters.map(({ Pattern }) => JSON.parse(Pattern))).toEqual([
      { eventName: ['INSERT', 'MODIFY'], dynamodb: { NewImage: { status: { S: [{ exists: true }] } } } },
    ]);
  });

  it('have a function beside them that counts many moves at once, and removals; it may remove params and nothing else', () => {
    const { FilterCriteria, MaximumBatchingWindowInSeconds } = mapping('StatsStream');
    expect(MaximumBatchingWindowInSeconds).toBe(10);
    expect(JSON.stringify(FilterCriteria)).toContain('REMOVE');
    const { Policies } = findOnly(stage, 'AWS::IAM::Role', 'StatsRecorderRole').Properties;
    expect(JSON.stringify(Policies)).not.toMatch(/secretsmanager|s3:|PutItem|GetItem|Scan/);
  });

  it('deliver by a few instances that say which messages failed', () => {
    expect(mapping('WebhookMessages')).toMatchObject({
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });

  it('let who reaches receivers read no secret, no object and no stream', () => {
    const { Policies } = findOnly(stage, 'AWS::IAM::Role', 'WebhookDelivererRole').Properties;
    const text = JSON.stringify(Policies);
    for (const word of ['secretsmanager', 's3:', 'GetRecords', 'DeleteItem', 'PutItem', 'Scan']) {
      expect(text).not.toContain(word);
    }
    const recorder = findOnly(stage, 'AWS::IAM::Role', 'WebhookRecorderRole').Properties;
    expect(JSON.stringify(recorder.Policies)).not.toMatch(/secretsmanager|s3:|sqs:ReceiveMessage|DeleteItem/);
  });
});
