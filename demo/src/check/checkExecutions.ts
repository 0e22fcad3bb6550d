import { type Checked, checkAll } from './checked.ts';
import type { Execution } from './readExecutions.ts';

function describeFault({ submitted, record, receipt, events }: Execution): string | undefined {
  const { requestId, action, parts } = submitted;
  const name = `${action} ${requestId}`;
  if (record?.status !== 'success') return `${name} is ${record?.status ?? 'unknown'}: ${record?.errorMessage ?? ''}`;
  if (receipt?.status !== 'success') return `${name}: no such transaction ${record.txHash}`;
  const isComplete = events.length === parts.length && events.every(({ success }) => success);
  return isComplete ? undefined : `${name}: the Forwarder's events do not say that it was carried out`;
}

/**
 * Compares what the gateway says of the requests with the Forwarder's own events.
 *
 * @param executions - of all requests
 * @param heldAtCrash - ids of those that the killed relayer held
 */
export function checkExecutions(executions: readonly Execution[], heldAtCrash: readonly string[]): readonly Checked[] {
  const faults = executions.map(describeFault).filter((fault) => fault !== undefined);
  const transactions = new Set(executions.map(({ receipt }) => receipt?.transactionHash)).size;
  const signatures = executions.reduce((sum, { events }) => sum + events.length, 0);
  const held = executions.filter(({ submitted }) => heldAtCrash.includes(submitted.requestId));
  return [
    checkAll({
      claim: 'every request succeeded, and the Forwarder says so',
      found: `${executions.length} requests, ${signatures} signatures, ${transactions} transactions`,
      faults,
    }),
    checkAll({
      claim: 'what the killed relayer held was not lost and not done twice',
      found: `${held.length} of ${heldAtCrash.length} ended well`,
      faults: held.map(describeFault).filter((fault) => fault !== undefined),
    }),
  ];
}
