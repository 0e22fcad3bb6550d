import type { BatchCostTracker } from './createBatchCostTracker.ts';
import type { OpenRequest } from './openRequest.ts';

/** Most gas of the single writes that go into one batch: a third of a block of 30 million. */
const MAX_BATCH_GAS = 10_000_000n;
/** Writes of one signer stand together, in the order of their forwarder nonces. */
function inOrder(writes: readonly OpenRequest[]): readonly OpenRequest[] {
  const nonceOf = ({ signatures }: OpenRequest) => signatures[0]?.nonce ?? 0n;
  const bySigner = Map.groupBy(writes, ({ signatures }) => signatures[0]?.signer);
  const compare = (one: OpenRequest, other: OpenRequest) => (nonceOf(one) < nonceOf(other) ? -1 : 1);
  return [...bySigner.values()].flatMap((own) => own.toSorted(compare));
}

/**
 * Divides requests into what goes into one transaction each: writes of many users together, anything else alone.
 *
 * @param requests - claimed, each with its estimated gas
 * @param limits.maxBatchSize - most writes in one transaction
 */
export function gatherWrites(
  requests: readonly OpenRequest[],
  limits: { readonly maxBatchSize: number; readonly batchCosts: BatchCostTracker },
): readonly (readonly OpenRequest[])[] {
  const isWrite = ({ record, attempts }: OpenRequest) => record.action === 'WRITE_DATA_FOR' && attempts === 0;
  // What a contract wallet does with its gas concerns its own transaction alone.
  const isSigned = ({ signatures }: OpenRequest) => signatures.every(({ nonce }) => nonce !== undefined);
  const writes = inOrder(requests.filter((request) => isWrite(request) && isSigned(request)));
  const isGathered = limits.maxBatchSize > 1 && limits.batchCosts.isWorthwhile(writes.length);
  if (!isGathered) return requests.map((request) => [request]);
  const groups: OpenRequest[][] = [];
  let groupGas = 0n;
  for (const write of writes) {
    const gas = write.gas ?? MAX_BATCH_GAS;
    const last = groups.at(-1);
    if (last === undefined || last.length >= limits.maxBatchSize || groupGas + gas > MAX_BATCH_GAS) {
      groups.push([write]);
      groupGas = gas;
    } else {
      last.push(write);
      groupGas += gas;
    }
  }
  const gathered = new Set(writes);
  return [...requests.filter((request) => !gathered.has(request)).map((request) => [request]), ...groups];
}
