import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { apiMetric, BOTH_THROTTLES, functionMetric, gatewayMetric, tableThrottles } from './gatewayMetrics.ts';
import type { StackContext } from './stackContext.ts';

/** What alarms watch. */
export interface Watched {
  readonly api: HttpApi;
  readonly target: IFunction;
}

interface AddedAlarms {
  readonly alarms: readonly Alarm[];
  /** Those among them that take a release back. */
  readonly releaseAlarms: readonly Alarm[];
  readonly topic: Topic;
}

interface AlarmPlan {
  readonly id: string;
  /** What it means, and what to look at first. */
  readonly description: string;
  readonly metric: IMetric;
  /** Raised at this value. */
  readonly threshold: number;
  /** Periods looked at, and how many of them must be bad. */
  readonly periods: readonly [bad: number, of: number];
  readonly missing?: TreatMissingData;
}

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
const SECONDS_PER_MINUTE = 60;
/** Fewer failures than this in five minutes wake nobody up, whatever share they are. */
const FEWEST_FAILURES = 5;
/** Share of the throttle's rate, sustained for minutes, at which it should be raised. */
const NEAR_LIMIT = 0.8;

function failureRate(api: HttpApi, period: Duration): MathExpression {
  return new MathExpression({
    expression: `IF(failed >= ${FEWEST_FAILURES}, 100 * failed / calls, 0)`,
    usingMetrics: {
      failed: apiMetric(api, '5xx', { statistic: 'Sum', period }),
      calls: apiMetric(api, 'Count', { statistic: 'Sum', period }),
    },
    period,
    label: '5xx, % of calls',
  });
}

function queuePlans({ stage, alarms }: StackContext['settings']): AlarmPlan[] {
  return [
    {
      id: 'OldestPending',
      description: `The oldest pending request waits for ${alarms.oldestPendingSeconds} s or more, or nothing measures it: no relayer claims (stopped, out of gas, removed, fees too low), or the function is down.`,
      metric: gatewayMetric(stage, 'OldestPendingAge', { statistic: 'Maximum', period: MINUTE }),
      threshold: alarms.oldestPendingSeconds,
      periods: [5, 5],
      // It is measured every minute: silence is a fault.
      missing: TreatMissingData.BREACHING,
    },
  ];
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
      periods: [1, 1],
    },
  ];
}

/** Fewer calls than this in five minutes tell nothing of cold starts: after a quiet night each is one. */
const FEWEST_CALLS = 50;
/** Share of cold starts, in percent, at which instances come and go faster than they pay off. */
const MANY_COLD_STARTS = 20;

function coldStartPlan(stage: string, { api }: Watched): AlarmPlan {
  return {
    id: 'ColdStarts',
    description: `For 15 minutes ${MANY_COLD_STARTS} % of the calls or more met a cold start: instances end early (memory, errors), or calls come in bursts.`,
    metric: new MathExpression({
      expression: `IF(calls >= ${FEWEST_CALLS}, 100 * FILL(starts, 0) / calls, 0)`,
      usingMetrics: {
        starts: gatewayMetric(stage, 'ColdStarts', { statistic: 'Sum', period: FIVE_MINUTES }),
        calls: apiMetric(api, 'Count', { statistic: 'Sum', period: FIVE_MINUTES }),
      },
      period: FIVE_MINUTES,
      label: 'cold starts, % of calls',
    }),
    threshold: MANY_COLD_STARTS,
    periods: [3, 3],
  };
}

/** US dollars a million, at list prices of us-east-1. @see docs/operations-aws.md, "Cost" */
const PRICES = { writes: 0.625, reads: 0.125, calls: 1.95, edgeCalls: 3.55 } as const;

function spendPlans({ stage, alarms, edge }: StackContext['settings'], { api }: Watched): AlarmPlan[] {
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
          calls: apiMetric(api, 'Count', { statistic: 'Sum', period }),
        },
        period,
        label: 'USD a day',
      }),
      threshold: alarms.dailyBudgetUsd,
      periods: [1, 1],
    },
  ];
}

function callPlans({ stage, alarms, throttle }: StackContext['settings'], { api }: Watched): AlarmPlan[] {
  return [
    {
      id: 'ServerErrors',
      description:
        'More than 1 % of the calls, and at least five, were answered 5xx: see the function log for `level: error`.',
      metric: failureRate(api, FIVE_MINUTES),
      threshold: 1,
      periods: [1, 1],
    },
    {
      id: 'Latency',
      description: `One call in a hundred takes ${alarms.latencyMs} ms or longer within the function, not counting how long it waited for something to happen.`,
      // API Gateway's own counts the 25 s of each call that waits: relayers on the feed would keep the alarm raised.
      metric: gatewayMetric(stage, 'Latency', { statistic: 'p99', period: FIVE_MINUTES }),
      threshold: alarms.latencyMs,
      periods: [3, 3],
    },
    {
      id: 'NearThrottle',
      description: `Calls come at ${NEAR_LIMIT * 100} % of THROTTLE_RATE (${throttle.rate} a second) or more: beyond it API Gateway answers 429.`,
      metric: apiMetric(api, 'Count', { statistic: 'Sum', period: MINUTE }),
      threshold: throttle.rate * SECONDS_PER_MINUTE * NEAR_LIMIT,
      periods: [3, 5],
    },
  ];
}

function functionPlans({ target }: Watched): AlarmPlan[] {
  const reading = { statistic: 'Sum', period: FIVE_MINUTES };
  return [
    {
      id: 'FunctionErrors',
      description:
        'The function ended without an answer: it cannot start (a bad setting or secret), ran out of memory, or timed out.',
      metric: functionMetric(target, 'Errors', reading),
      threshold: 3,
      periods: [1, 1],
    },
    {
      id: 'FunctionThrottles',
      description:
        'Calls were refused for want of instances: raise RESERVED_CONCURRENCY, or the account has reached its limit.',
      metric: functionMetric(target, 'Throttles', reading),
      threshold: 1,
      periods: [1, 1],
    },
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

/** What takes a release back while a tenth of the calls goes to it: minutes must do. */
function releasePlans({ api, target }: Watched): AlarmPlan[] {
  return [
    {
      id: 'ReleaseServerErrors',
      description:
        'Within a minute 1 % of the calls, and at least five, were answered 5xx: a release under way is taken back.',
      metric: failureRate(api, MINUTE),
      threshold: 1,
      periods: [1, 1],
    },
    {
      id: 'ReleaseFunctionErrors',
      description:
        'Within a minute the function ended three times without an answer: a release under way is taken back.',
      metric: functionMetric(target, 'Errors', { statistic: 'Sum', period: MINUTE }),
      threshold: 3,
      periods: [1, 1],
    },
  ];
}

/** Adds the alarms, and the topic that they are told to. */
export function addAlarms(context: StackContext, watched: Watched): AddedAlarms {
  const { stack, settings } = context;
  const topic = addTopic(context);
  const action = new SnsAction(topic);
  const add = ({ id, description, metric, threshold, periods: [bad, of], missing }: AlarmPlan): Alarm => {
    const alarm = new Alarm(stack, `${id}Alarm`, {
      alarmName: `prism-gateway-${settings.stage}-${id}`,
      alarmDescription: description,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: bad,
      evaluationPeriods: of,
      treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  };
  const plans = [
    ...queuePlans(settings),
    ...claimPlans(settings),
    ...callPlans(settings, watched),
    ...functionPlans(watched),
    coldStartPlan(settings.stage, watched),
    ...spendPlans(settings, watched),
    ...tablePlans(settings),
  ];
  const releaseAlarms = releasePlans(watched).map(add);
  return { alarms: [...plans.map(add), ...releaseAlarms], releaseAlarms, topic };
}
