import { deliveriesTable } from '@prism-gateway/gateway/deployment';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  EventSourceMapping,
  type EventSourceMappingProps,
  FilterCriteria,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { addAlarm } from './addAlarm.ts';
import { BOTH_THROTTLES, throttlesOf } from './gatewayMetrics.ts';
import type { StackContext } from './stackContext.ts';

interface WebhooksParts {
  /** With the stream that reports moves. */
  readonly requests: Table;
  /** Whom alarms are sent to. */
  readonly topic: Topic;
  /** Directory with the functions' built bundle. */
  readonly webhooksDirectory: string;
}

/** An attempt takes ten seconds at most; lots of them follow one another within this. */
const DELIVER_SECONDS = 60;
const RECORD_SECONDS = 30;
/** Of a message that is under way. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
const VISIBILITY_SECONDS = 6 * DELIVER_SECONDS;
/** How often a message may fail, and a batch of the stream. */
const [MAX_RECEIVES, MAX_BATCH_TRIES] = [5, 100];
/** Instances that deliver at a time. */
const MAX_DELIVERERS = 10;
/** How long a stream may stay unread before it is about the past, in milliseconds. */
const OLD_MS = 300_000;

const allow = (sid: string, actions: readonly string[], resources: readonly string[]) =>
  new PolicyStatement({ sid, actions: [...actions], resources: [...resources] });

/** Moves of requests alone: no other write calls the function. */
const MOVES = FilterCriteria.filter({
  eventName: ['INSERT', 'MODIFY'],
  dynamodb: { NewImage: { status: { S: [{ exists: true }] } } },
});
/** Requests that are removed, by DynamoDB or an administrator. */
const REMOVALS = FilterCriteria.filter({
  eventName: ['REMOVE'],
  dynamodb: { OldImage: { status: { S: [{ exists: true }] } } },
});
/** How long moves are gathered before they are counted, in seconds: each item of the stats is a write unit. */
const STATS_WINDOW_SECONDS = 10;

interface Worker {
  readonly id: 'WebhookRecorder' | 'WebhookDeliverer' | 'StatsRecorder';
  readonly suffix: string;
  readonly description: string;
  readonly seconds: number;
  readonly statements: readonly PolicyStatement[];
  /** The kind of record that it writes from the stream; absent: it does not read the stream. */
  readonly records?: 'deliveries' | 'stats';
}

/** Parts, and the queues between them. */
type WorkerParts = WebhooksParts & ReturnType<typeof addQueues>;

function addWorker(context: StackContext, parts: WorkerParts, worker: Worker) {
  const { stack, settings } = context;
  const { id, suffix, description, seconds, statements, records } = worker;
  const functionName = `prism-gateway-${settings.stage}-${suffix}`;
  const logGroup = new LogGroup(stack, `${id}Log`, {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const logs = allow('Logs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
  const role = new Role(stack, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `Prism Gateway ${settings.stage}: ${description}`,
    inlinePolicies: { webhooks: new PolicyDocument({ statements: [...statements, logs] }) },
  });
  return new LambdaFunction(stack, id, {
    ...{ functionName, description: `Prism Gateway: ${description}`, handler: 'index.handler', role, logGroup },
    ...{ runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64, memorySize: 256 },
    timeout: Duration.seconds(seconds),
    code: Code.fromAsset(parts.webhooksDirectory),
    environment: {
      REQUESTS_TABLE: settings.tables.requests,
      DELIVERIES_TABLE: deliveriesName(context),
      WEBHOOKS_QUEUE_URL: parts.queue.queueUrl,
      ...(records !== undefined && { RECORDS: records }),
      ...(settings.gateway.WEBHOOKS_ALLOW_PRIVATE !== undefined && {
        WEBHOOKS_ALLOW_PRIVATE: settings.gateway.WEBHOOKS_ALLOW_PRIVATE,
      }),
      ...(settings.gateway.LOG_LEVEL !== undefined && { LOG_LEVEL: settings.gateway.LOG_LEVEL }),
    },
  });
}

const requestsArn = ({ stack, settings }: StackContext) =>
  stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: settings.tables.requests });

/** Names the table of deliveries. */
export const deliveriesName = ({ settings: { gateway, stage } }: Pick<StackContext, 'settings'>) =>
  gateway.DELIVERIES_TABLE ?? `service-deliveries-${stage}`;

/** Writes what may be done with deliveries. */
export function deliveriesStatements(context: StackContext, actions: readonly string[]): PolicyStatement[] {
  const resourceName = deliveriesName(context);
  const table = context.stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName });
  return [
    allow(
      'Deliveries',
      actions.map((name) => `dynamodb:${name}`),
      [table],
    ),
    allow(
      'DeliveriesIndexes',
      ['dynamodb:Query'],
      deliveriesTable.indexes.map(({ name }) => `${table}/index/${name}`),
    ),
  ];
}

function addQueues({ stack, settings }: StackContext) {
  const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: Duration.days(14) };
  const queueName = `prism-gateway-${settings.stage}-webhooks`;
  const deadLetters = new Queue(stack, 'WebhookDeadLetters', { ...common, queueName: `${queueName}-dead` });
  const queue = new Queue(stack, 'WebhookQueue', {
    ...{ ...common, queueName, visibilityTimeout: Duration.seconds(VISIBILITY_SECONDS) },
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
  });
  return { queue, deadLetters };
}

interface StreamReader extends Pick<Worker, 'id' | 'suffix' | 'description' | 'records' | 'statements'> {
  readonly mappingId: string;
  readonly mapping: Partial<EventSourceMappingProps>;
}

/** Adds a function on the stream of the requests' table. A batch that fails for good leaves a dead letter. */
function addStreamReader(context: StackContext, parts: WorkerParts, reader: StreamReader): LambdaFunction {
  const { mappingId, mapping, ...worker } = reader;
  const { deadLetters, requests } = parts;
  // Of the stack's own table, or of one that was restored beside it.
  const streamArn = context.settings.requestsStreamArn ?? requests.tableStreamArn ?? '';
  const reading = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
  const target = addWorker(context, parts, {
    ...{ ...worker, seconds: RECORD_SECONDS },
    statements: [
      allow('Stream', reading, [streamArn]),
      ...worker.statements,
      allow('DeadLetters', ['sqs:SendMessage'], [deadLetters.queueArn]),
    ],
  });
  new EventSourceMapping(context.stack, mappingId, {
    ...{ target, eventSourceArn: streamArn, startingPosition: StartingPosition.TRIM_HORIZON },
    ...{ ...mapping, retryAttempts: MAX_BATCH_TRIES },
    onFailure: { bind: () => ({ destination: deadLetters.queueArn }) },
  });
  return target;
}

const addRecorder = (context: StackContext, parts: WorkerParts) =>
  addStreamReader(context, parts, {
    ...{ id: 'WebhookRecorder', suffix: 'webhooks-record', records: 'deliveries', mappingId: 'WebhookStream' },
    description: 'writes moves of requests into the outbox of webhooks',
    statements: [
      allow('Webhooks', ['dynamodb:GetItem'], [requestsArn(context)]),
      ...deliveriesStatements(context, ['PutItem', 'UpdateItem']),
      allow('Wake', ['sqs:SendMessage'], [parts.queue.queueArn]),
    ],
    mapping: { batchSize: 100, bisectBatchOnError: true, filters: [MOVES] },
  });

/** Adds what counts moves for `GET /admin/stats`, and removes params whose request is gone. */
const addStatsRecorder = (context: StackContext, parts: WorkerParts) =>
  addStreamReader(context, parts, {
    ...{ id: 'StatsRecorder', suffix: 'stats-record', records: 'stats', mappingId: 'StatsStream' },
    description: 'counts moves of requests',
    statements: [
      allow('Params', ['dynamodb:DeleteItem'], [requestsArn(context)]),
      ...deliveriesStatements(context, ['Query', 'UpdateItem']),
    ],
    // A batch that fails comes again as it was: so it is counted once.
    mapping: {
      ...{ batchSize: 1000, maxBatchingWindow: Duration.seconds(STATS_WINDOW_SECONDS) },
      filters: [MOVES, REMOVALS],
    },
  });

function addDeliverer(context: StackContext, parts: WorkerParts): void {
  const { stack } = context;
  const { queue } = parts;
  const deliverer = addWorker(context, parts, {
    ...{ id: 'WebhookDeliverer', suffix: 'webhooks-deliver', seconds: DELIVER_SECONDS },
    description: 'delivers webhooks',
    statements: [
      allow('Webhooks', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [requestsArn(context)]),
      ...deliveriesStatements(context, ['GetItem', 'Query', 'UpdateItem']),
      allow(
        'Queue',
        ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
        [queue.queueArn],
      ),
    ],
  });
  new EventSourceMapping(stack, 'WebhookMessages', {
    ...{ target: deliverer, eventSourceArn: queue.queueArn, batchSize: 10, maxConcurrency: MAX_DELIVERERS },
    reportBatchItemFailures: true,
  });
  new Rule(stack, 'WebhookWatch', {
    description: 'Looks after webhooks that nobody was woken up for',
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new FunctionTarget(deliverer, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
}

/**
 * Adds what delivers webhooks: a function on the stream of the requests' table that fills the outbox, a queue with dead letters whose
 * messages say which webhook to look at, and a function that looks, which reaches receivers and no secrets.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export function addWebhooks(context: StackContext, parts: WebhooksParts): void {
  const all = { ...parts, ...addQueues(context) };
  const period = Duration.minutes(1);
  addStatsRecorder(context, all);
  // A function for each move, and one each minute, would be paid for by who has no webhooks.
  if (context.settings.hasWebhooks) {
    const recorder = addRecorder(context, all);
    addDeliverer(context, all);
    addAlarm(context, parts.topic, {
      id: 'WebhookIteratorAge',
      description: 'Webhooks get moves five minutes late: the function on the stream fails, or cannot keep up.',
      metric: recorder.metric('IteratorAge', { statistic: 'Maximum', period }),
      threshold: OLD_MS,
    });
  }
  addAlarm(context, parts.topic, {
    id: 'WebhookDeadLetters',
    description:
      'What should wake up or fill the outbox of webhooks failed for good: see docs/operations-aws.md, "A batch that was given up".',
    metric: all.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
    threshold: 1,
  });
  addAlarm(context, parts.topic, {
    id: 'DeliveriesThrottles',
    description: `DynamoDB throttles ${deliveriesName(context)}: a sudden rise, a webhook with far more moves than others, or the account's limit. Deliveries come late, and none is lost.`,
    metric: throttlesOf({
      ...{ tableName: deliveriesName(context), indexes: deliveriesTable.indexes, id: 'deliveries' },
      ...{ events: BOTH_THROTTLES, period: Duration.minutes(5) },
    }),
    ...{ threshold: 10, periods: [2, 2] },
  });
}
