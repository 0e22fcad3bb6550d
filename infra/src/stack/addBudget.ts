import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { StackContext } from './stackContext.ts';

/** Shares of the budget at which a mail is sent, in percent. */
const TOLD_AT = [80, 100] as const;

/**
 * Adds a budget for the account's bill of a day, as AWS itself adds it up some hours later: it knows of what no metric does. Mailed to
 * the address of the alarms, so that there is none without.
 *
 * @see https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
 */
export function addBudget({ stack, settings }: StackContext): CfnBudget | undefined {
  const { stage, alarmEmail, alarms } = settings;
  if (alarmEmail === undefined || alarms.dailyBudgetUsd === 0) return undefined;
  return new CfnBudget(stack, 'Budget', {
    budget: {
      budgetName: `prism-gateway-${stage}`,
      budgetType: 'COST',
      timeUnit: 'DAILY',
      budgetLimit: { amount: alarms.dailyBudgetUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: TOLD_AT.map((threshold) => ({
      notification: {
        notificationType: 'ACTUAL',
        comparisonOperator: 'GREATER_THAN',
        threshold,
        thresholdType: 'PERCENTAGE',
      },
      subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
    })),
  });
}
