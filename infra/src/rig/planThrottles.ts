import type { FaultProxy } from '@prism-gateway/testing';

/** One call to DynamoDB. */
interface AskedCall {
  /** Like `DynamoDB_20120810.PutItem`. */
  readonly target: string;
  /** Empty if the call names several. */
  readonly tableName: string;
}

interface ThrottlePlan {
  readonly isAffected: (call: AskedCall) => boolean;
  /** Called with each refused call by the metric that DynamoDB counts it in. */
  readonly note: (event: 'ReadThrottleEvents' | 'WriteThrottleEvents') => void;
}

/** More than a test makes. */
const MANY = 10_000;

/** Has a proxy in front of an engine refuse calls as DynamoDB throttles them. @returns ends it */
export function planThrottles(proxy: FaultProxy, { isAffected, note }: ThrottlePlan): { readonly end: () => void } {
  proxy.planFaults(Array(MANY).fill('throttle'), ({ headers, body }) => {
    const target = String(headers['x-amz-target']);
    const { TableName = '' } = JSON.parse(body.toString()) as { readonly TableName?: string };
    if (!isAffected({ target, tableName: TableName })) return false;
    note(/Put|Update|Delete|Write/.test(target) ? 'WriteThrottleEvents' : 'ReadThrottleEvents');
    return true;
  });
  return { end: () => proxy.planFaults([]) };
}
