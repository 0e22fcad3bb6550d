import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { StackContext } from './stackContext.ts';

/** An alarm: raised when a metric is at a threshold or above it. */
export interface AlarmPlan {
  readonly id: string;
  /** The meaning of the alarm, and what to look at first. */
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Periods looked at, and how many of them must be bad; one of one unless set otherwise. */
  readonly periods?: readonly [bad: number, of: number];
  /** Of what is not measured; default: it is well. */
  readonly missing?: TreatMissingData;
}

/** Adds an alarm that notifies a topic when it is raised, and when it is over. */
export function addAlarm({ stack, settings }: StackContext, topic: Topic, plan: AlarmPlan): Alarm {
  const { id, description, metric, threshold, periods: [bad, of] = [1, 1], missing } = plan;
  const alarm = new Alarm(stack, `${id}Alarm`, {
    ...{ alarmName: `prism-gateway-${settings.stage}-${id}`, alarmDescription: description, metric, threshold },
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    ...{ datapointsToAlarm: bad, evaluationPeriods: of },
    treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
  });
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}
