import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { StackContext } from './stackContext.ts';

/**
 * Lets the function measure the queue once a minute: the age of the oldest pending request must be known most of all when nobody
 * calls. A missed measurement is not made up for; the next one is better.
 */
export function addQueueWatch({ stack }: StackContext, target: IFunction): Rule {
  // The first bounds what EventBridge does until Lambda has taken the event, the second what Lambda does then.
  target.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  return new Rule(stack, 'QueueWatch', {
    description: 'Measures the queue',
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new FunctionTarget(target, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
}
