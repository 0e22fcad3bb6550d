import type { OpenRequest } from './states.ts';

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
  // A contract wallet gets its own transaction: its use of gas concerns nobody else.
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

/** How much of what was learned before counts against the newest batch. */
const MEMORY = 0.8;
/** How many lone writes are sent singly after a batch turned out dear, before another is tried. */
const PENANCE = 200;

/** Whether many users' writes are cheaper in one transaction. */
export type BatchCostTracker = ReturnType<typeof createBatchCostTracker>;

/** Makes the memory of what batches cost; the first ones are tried. */
export function createBatchCostTracker() {
  let ratio = 0;
  let penance = 0;
  return {
    /** Gas of a batch over that of its writes sent singly, as far as it is known; 0 before the first one. */
    get ratio() {
      return ratio;
    },
    /** Notes what a batch has used, and what its writes were estimated at singly. */
    learn({ gasUsed, singleGas }: { readonly gasUsed: bigint; readonly singleGas: bigint }): void {
      // Gas of one block fits a float exactly.
      const measured = Number(gasUsed) / Math.max(1, Number(singleGas));
      ratio = ratio === 0 ? measured : MEMORY * ratio + (1 - MEMORY) * measured;
      if (ratio >= 1) [ratio, penance] = [0, PENANCE];
    },
    /** Whether writes are to be gathered now. */
    isWorthwhile(writes: number): boolean {
      if (writes < 2) return false;
      penance = Math.max(0, penance - writes);
      return penance === 0;
    },
  };
}
