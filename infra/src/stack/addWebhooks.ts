import { deliveriesTable } from '@prism-gateway/gateway/deployment';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  EventSourceMapping,
  FilterCriteria,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { BOTH_THROTTLES, throttlesOf } from './gatewayMetrics.ts';
import type { StackContext } from './stackContext.ts';

interface WebhooksParts {
  /** With the stream that tells of moves. */
  readonly requests: Table;
  /** Whom alarms are told to. */
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
/** A stream that nobody has read for so long, in milliseconds, tells of the past. */
const OLD_MS = 300_000;

const allow = (sid: string, actions: readonly string[], resources: readonly string[]) =>
  new PolicyStatement({ sid, actions: [...actions], resources: [...resources] });

/** Moves of requests alone, and those that DynamoDB removes: no other write calls the function. */
const FILTERS = [
  FilterCriteria.filter({
    eventName: ['INSERT', 'MODIFY'],
    dynamodb: { NewImage: { status: { S: [{ exists: true }] } } },
  }),
  FilterCriteria.filter({
    eventName: ['REMOVE'],
    userIdentity: { type: ['Service'], principalId: ['dynamodb.amazonaws.com'] },
    dynamodb: { OldImage: { status: { S: [{ exists: true }] } } },
  }),
];

interface Worker {
  readonly id: 'WebhookRecorder' | 'WebhookDeliverer';
  readonly suffix: string;
  readonly description: string;
  readonly seconds: number;
  readonly statements: readonly PolicyStatement[];
}

function addWorker(context: StackContext, parts: WebhooksParts & { readonly queue: Queue }, worker: Worker) {
  const { stack, settings } = context;
  const { id, suffix, description, seconds, statements } = worker;
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
      ...(settings.gateway.WEBHOOKS_ALLOW_PRIVATE !== undefined && {
        WEBHOOKS_ALLOW_PRIVATE: settings.gateway.WEBHOOKS_ALLOW_PRIVATE,
      }),
      ...(settings.gateway.LOG_LEVEL !== undefined && { LOG_LEVEL: settings.gateway.LOG_LEVEL }),
    },
  });
}

/** Names the table of deliveries. */
export const deliveriesName = ({ settings }: Pick<StackContext, 'settings'>) => `service-deliveries-${settings.stage}`;

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

function addRecorder(context: StackContext, parts: WebhooksParts & ReturnType<typeof addQueues>): LambdaFunction {
  const { stack, settings } = context;
  const { requests, queue, deadLetters } = parts;
  const streamArn = requests.tableStreamArn ?? '';
  const table = stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: settings.tables.requests });
  const recorder = addWorker(context, parts, {
    ...{ id: 'WebhookRecorder', suffix: 'webhooks-record', seconds: RECORD_SECONDS },
    description: 'writes moves of requests into the outbox of webhooks',
    statements: [
      allow('Stream', ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [streamArn]),
      allow('Webhooks', ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem'], [table]),
      ...deliveriesStatements(context, ['PutItem', 'UpdateItem']),
      allow('Wake', ['sqs:SendMessage'], [queue.queueArn, deadLetters.queueArn]),
    ],
  });
  new EventSourceMapping(stack, 'WebhookStream', {
    ...{ target: recorder, eventSourceArn: streamArn, startingPosition: StartingPosition.TRIM_HORIZON },
    ...{ batchSize: 100, bisectBatchOnError: true, retryAttempts: MAX_BATCH_TRIES, filters: FILTERS },
    onFailure: { bind: () => ({ destination: deadLetters.queueArn }) },
  });
  return recorder;
}

function addDeliverer(context: StackContext, parts: WebhooksParts & ReturnType<typeof addQueues>): void {
  const { stack, settings } = context;
  const { queue } = parts;
  const table = stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: settings.tables.requests });
  const deliverer = addWorker(context, parts, {
    ...{ id: 'WebhookDeliverer', suffix: 'webhooks-deliver', seconds: DELIVER_SECONDS },
    description: 'delivers webhooks',
    statements: [
      allow('Webhooks', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [table]),
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

interface WebhookAlarm {
  readonly id: string;
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Periods that must be bad one after another; 1 unless told otherwise. */
  readonly periods?: number;
}

function addWebhookAlarm({ stack, settings }: StackContext, topic: Topic, plan: WebhookAlarm): void {
  const { id, description: alarmDescription, metric, threshold, periods = 1 } = plan;
  const alarm = new Alarm(stack, `${id}Alarm`, {
    ...{ alarmName: `prism-gateway-${settings.stage}-${id}`, alarmDescription, metric, threshold },
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    ...{ datapointsToAlarm: periods, evaluationPeriods: periods, treatMissingData: TreatMissingData.NOT_BREACHING },
  });
  alarm.addAlarmAction(new SnsAction(topic));
  alarm.addOkAction(new SnsAction(topic));
}

/**
 * Adds what delivers webhooks: a function on the stream of the requests' table that fills the outbox, a queue with dead letters whose
 * messages say which webhook to look at, and a function that looks, which reaches receivers and no secrets.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export function addWebhooks(context: StackContext, parts: WebhooksParts): void {
  const queues = addQueues(context);
  const recorder = addRecorder(context, { ...parts, ...queues });
  addDeliverer(context, { ...parts, ...queues });
  const period = Duration.minutes(1);
  addWebhookAlarm(context, parts.topic, {
    id: 'WebhookDeadLetters',
    description:
      'What should wake up or fill the outbox of webhooks failed for good: see docs/operations-aws.md, Webhooks.',
    metric: queues.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
    threshold: 1,
  });
  addWebhookAlarm(context, parts.topic, {
    id: 'WebhookIteratorAge',
    description: 'Webhooks are told of moves five minutes late: the function on the stream fails, or cannot keep up.',
    metric: recorder.metric('IteratorAge', { statistic: 'Maximum', period }),
    threshold: OLD_MS,
  });
  addWebhookAlarm(context, parts.topic, {
    id: 'DeliveriesThrottles',
    description: `DynamoDB throttles ${deliveriesName(context)}: a sudden rise, a webhook with far more moves than others, or the account's limit. Deliveries come late, and none is lost.`,
    metric: throttlesOf({
      ...{ tableName: deliveriesName(context), indexes: deliveriesTable.indexes, id: 'deliveries' },
      ...{ events: BOTH_THROTTLES, period: Duration.minutes(5) },
    }),
    ...{ threshold: 10, periods: 2 },
  });
}
