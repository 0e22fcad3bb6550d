import { EMF_NAMESPACE } from '@prism-gateway/gateway/deployment';
import { Duration } from 'aws-cdk-lib';
import { type Alarm, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { type AlarmPlan, addAlarm } from './addAlarm.ts';
import { BOTH_THROTTLES, functionMetric, gatewayMetric, tableThrottles } from './gatewayMetrics.ts';
import type { StackContext } from './stackContext.ts';

interface AddedAlarms {
  readonly alarms: readonly Alarm[];
  /** Those among them that take a release back. */
  readonly releaseAlarms: readonly Alarm[];
  readonly topic: Topic;
}

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
/** Fewer failures than this in five minutes wake nobody up, whatever share they are. */
const FEWEST_FAILURES = 5;
/** Share of the instances, in use for minutes, at which there should be more. */
const NEAR_LIMIT = 0.8;

function failureRate(target: LambdaFunction, period: Duration): MathExpression {
  return new MathExpression({
    expression: `IF(failed >= ${FEWEST_FAILURES}, 100 * failed / calls, 0)`,
    usingMetrics: {
      failed: functionMetric(target, 'Url5xxCount', { statistic: 'Sum', period }),
      calls: functionMetric(target, 'UrlRequestCount', { statistic: 'Sum', period }),
    },
    period,
    label: '5xx, % of calls',
  });
}

function queuePlan({ stage, alarms }: StackContext['settings']): AlarmPlan {
  return {
    id: 'OldestPending',
    description: `The oldest pending request waits for ${alarms.oldestPendingSeconds} s or more, or nothing measures it: no relayer claims (stopped, out of gas, removed, fees too low), or the function is down.`,
    metric: gatewayMetric(stage, 'OldestPendingAge', { statistic: 'Maximum', period: MINUTE }),
    threshold: alarms.oldestPendingSeconds,
    periods: [5, 5],
    // It is measured every minute: silence is a fault.
    missing: TreatMissingData.BREACHING,
  };
}

/** Claims in half an hour, none of which was reported, that say more than that relayers take their time. */
const FEWEST_CLAIMS = 10;

function claimPlans({ stage, alarms }: StackContext['settings']): AlarmPlan[] {
  const period = Duration.minutes(30);
  const sum = (name: 'ClaimsWon' | 'Reports') => gatewayMetric(stage, name, { statistic: 'Sum', period });
  return [
    {
      id: 'ClaimOverdue',
      description: `A claim is ${alarms.claimOverdueSeconds} s or more beyond its lease, and nobody has taken it over: its relayer has stopped, and no other serves its chain.`,
      metric: gatewayMetric(stage, 'ClaimOverdue', { statistic: 'Maximum', period: MINUTE }),
      threshold: alarms.claimOverdueSeconds,
      periods: [5, 5],
    },
    {
      id: 'ClaimsWithoutReports',
      description: `In half an hour ${FEWEST_CLAIMS} requests or more were claimed, and none reported: relayers claim and do not finish (no gas, a chain that stands still, or a whitelisted key that hoards).`,
      metric: new MathExpression({
        expression: 'IF(FILL(reports, 0) > 0, 0, FILL(claims, 0))',
        usingMetrics: { claims: sum('ClaimsWon'), reports: sum('Reports') },
        period,
        label: 'claims without a report',
      }),
      threshold: FEWEST_CLAIMS,
    },
  ];
}

/** Fewer calls than this in five minutes say nothing of cold starts: after a quiet night each is one. */
const FEWEST_CALLS = 50;
/** Share of cold starts, in percent, at which instances come and go faster than they pay off. */
const MANY_COLD_STARTS = 20;

function coldStartPlan(stage: string, target: LambdaFunction): AlarmPlan {
  return {
    id: 'ColdStarts',
    description: `For 15 minutes ${MANY_COLD_STARTS} % of the calls or more met a cold start: instances end early (memory, errors), or calls come in bursts.`,
    metric: new MathExpression({
      expression: `IF(calls >= ${FEWEST_CALLS}, 100 * FILL(starts, 0) / calls, 0)`,
      usingMetrics: {
        starts: gatewayMetric(stage, 'ColdStarts', { statistic: 'Sum', period: FIVE_MINUTES }),
        calls: functionMetric(target, 'UrlRequestCount', { statistic: 'Sum', period: FIVE_MINUTES }),
      },
      period: FIVE_MINUTES,
      label: 'cold starts, % of calls',
    }),
    threshold: MANY_COLD_STARTS,
    periods: [3, 3],
  };
}

/** US dollars a million, at list prices of us-east-1. @see docs/operations-aws.md, "The bill" */
const PRICES = { writes: 0.625, reads: 0.125, calls: 0.45, edgeCalls: 2.15 } as const;

function spendPlans({ stage, alarms, edge }: StackContext['settings'], target: LambdaFunction): AlarmPlan[] {
  if (alarms.dailyBudgetUsd === 0) return [];
  const period = Duration.days(1);
  const sum = (name: 'WriteUnits' | 'ReadUnits') => gatewayMetric(stage, name, { statistic: 'Sum', period });
  const perCall = edge === undefined ? PRICES.calls : PRICES.edgeCalls;
  return [
    {
      id: 'DailySpend',
      description: `A day's calls and units come to ${alarms.dailyBudgetUsd} USD or more by list prices: more use than DAILY_BUDGET_USD expects, or somebody who makes you pay.`,
      metric: new MathExpression({
        expression: `(${PRICES.writes} * FILL(writes, 0) + ${PRICES.reads} * FILL(reads, 0) + ${perCall} * FILL(calls, 0)) / 1000000`,
        usingMetrics: {
          writes: sum('WriteUnits'),
          reads: sum('ReadUnits'),
          calls: functionMetric(target, 'UrlRequestCount', { statistic: 'Sum', period }),
        },
        period,
        label: 'USD a day',
      }),
      threshold: alarms.dailyBudgetUsd,
    },
  ];
}

function callPlans({ stage, alarms }: StackContext['settings'], target: LambdaFunction): AlarmPlan[] {
  return [
    {
      id: 'ServerErrors',
      description:
        'More than 1 % of the calls, and at least five, were answered 5xx: see the function log for `level: error`.',
      metric: failureRate(target, FIVE_MINUTES),
      threshold: 1,
    },
    {
      id: 'Latency',
      description: `One call in a hundred takes ${alarms.latencyMs} ms or longer within the function, not counting how long it waited for something to happen.`,
      metric: gatewayMetric(stage, 'Latency', { statistic: 'p99', period: FIVE_MINUTES }),
      threshold: alarms.latencyMs,
      periods: [3, 3],
    },
  ];
}

function nearLimitPlan(instances: number, target: LambdaFunction): AlarmPlan {
  return {
    id: 'NearInstances',
    description: `${NEAR_LIMIT * 100} % of the ${instances} instances or more (RESERVED_CONCURRENCY) are at work at once: beyond it calls are answered 429.`,
    metric: functionMetric(target, 'ConcurrentExecutions', { statistic: 'Maximum', period: MINUTE }),
    threshold: Math.ceil(instances * NEAR_LIMIT),
    periods: [3, 5],
  };
}

/** DynamoDB's errors for a role without rights and for a missing table: no outage, and nothing that passes. */
const DEPLOYMENT_FAULTS = ['AccessDeniedException', 'ResourceNotFoundException'];

function deploymentFaultPlan({ stack, settings }: StackContext, logGroup: ILogGroup): AlarmPlan {
  const filter = new MetricFilter(stack, 'DeploymentFaults', {
    logGroup,
    filterPattern: FilterPattern.any(
      ...DEPLOYMENT_FAULTS.map((name) => FilterPattern.stringValue('$.cause.name', '=', name)),
    ),
    // Apart from what the function itself writes.
    metricNamespace: `${EMF_NAMESPACE}/Log`,
    metricName: `DeploymentFaults-${settings.stage}`,
  });
  return {
    id: 'DeploymentFaults',
    description:
      'A table refuses the function, or is not there: rights or names of this deployment are wrong, and no waiting helps. The log has cause.message.',
    metric: filter.metric({ statistic: 'Sum', period: MINUTE }),
    threshold: 1,
  };
}

function functionPlans({ reservedConcurrency }: StackContext['settings'], target: LambdaFunction): AlarmPlan[] {
  const reading = { statistic: 'Sum', period: FIVE_MINUTES };
  return [
    {
      id: 'FunctionErrors',
      description:
        'The function ended without an answer: it cannot start (a bad setting or secret), ran out of memory, or timed out.',
      metric: functionMetric(target, 'Errors', reading),
      threshold: 3,
    },
    {
      id: 'FunctionThrottles',
      description:
        'Calls were refused for want of instances: raise RESERVED_CONCURRENCY, or the account has reached its limit.',
      metric: functionMetric(target, 'Throttles', reading),
      threshold: 1,
    },
    ...(reservedConcurrency === 0 ? [] : [nearLimitPlan(reservedConcurrency, target)]),
  ];
}

const TABLE_ALARMS = [
  { id: 'RequestsThrottles', kind: 'requests', events: ['WriteThrottleEvents'] },
  { id: 'RequestsReadThrottles', kind: 'requests', events: ['ReadThrottleEvents'] },
  { id: 'RelayersThrottles', kind: 'relayers', events: BOTH_THROTTLES },
  { id: 'RateLimitThrottles', kind: 'rateLimits', events: BOTH_THROTTLES },
] as const;

function tablePlans({ tables }: StackContext['settings']): AlarmPlan[] {
  return TABLE_ALARMS.map(({ id, kind, events }) => ({
    id,
    description: `DynamoDB throttles ${tables[kind]}: a sudden rise, one hot key, MAX_TABLE_…_UNITS, or the account's limit. The gateway tries again by itself; clients see 503 when that does not help.`,
    metric: tableThrottles(tables, { kind, events, period: FIVE_MINUTES }),
    threshold: 10,
    periods: [2, 2],
  }));
}

function addTopic({ stack, settings }: StackContext): Topic {
  const topic = new Topic(stack, 'AlarmTopic', {
    displayName: `Prism Gateway ${settings.stage} alarms`,
    enforceSSL: true,
  });
  // A policy of its own takes the place of the topic's default one, which had let CloudWatch in.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AllowAlarms',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  if (settings.alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(settings.alarmEmail));
  return topic;
}

/** Alarms that roll a release back while a tenth of the calls goes to it: minutes must do. */
function releasePlans(target: LambdaFunction): AlarmPlan[] {
  return [
    {
      id: 'ReleaseServerErrors',
      description:
        'Within a minute 1 % of the calls, and at least five, were answered 5xx: a release under way is taken back.',
      metric: failureRate(target, MINUTE),
      threshold: 1,
    },
    {
      id: 'ReleaseFunctionErrors',
      description:
        'Within a minute the function ended three times without an answer: a release under way is taken back.',
      metric: functionMetric(target, 'Errors', { statistic: 'Sum', period: MINUTE }),
      threshold: 3,
    },
  ];
}

/** Adds the alarms, and the topic that they are sent to. */
export function addAlarms(context: StackContext, target: LambdaFunction): AddedAlarms {
  const { settings } = context;
  const topic = addTopic(context);
  const add = (plan: AlarmPlan) => addAlarm(context, topic, plan);
  const plans = [
    queuePlan(settings),
    ...claimPlans(settings),
    ...callPlans(settings, target),
    ...functionPlans(settings, target),
    deploymentFaultPlan(context, target.logGroup),
    coldStartPlan(settings.stage, target),
    ...spendPlans(settings, target),
    ...tablePlans(settings),
  ];
  const releaseAlarms = releasePlans(target).map(add);
  return { alarms: [...plans.map(add), ...releaseAlarms], releaseAlarms, topic };
}
