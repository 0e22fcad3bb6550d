import type { OpenRequest } from '../life/openRequest.ts';

/** Most gas of the single writes that go into one batch: a third of a block of 30 million. */
const MAX_BATCH_GAS = 10_000_000n;
/** How much of what was learned before counts against the newest batch. */
const MEMORY = 0.8;
/** How many lone writes are sent singly after a batch turned out dear, before another is tried. */
const PENANCE = 200;

/** Whether many users' writes are cheaper in one transaction. */
export interface BatchThrift {
  /** Gas of a batch over that of its writes sent singly, as far as it is known; 0 before the first one. */
  readonly ratio: number;
  /** Notes what a batch has used, and what its writes were estimated at singly. */
  learn(batch: { readonly gasUsed: bigint; readonly singleGas: bigint }): void;
  /** Whether writes are to be gathered now. */
  isWorthwhile(writes: number): boolean;
}

/** Makes the memory of what batches cost; the first ones are tried. */
export function createBatchThrift(): BatchThrift {
  let ratio = 0;
  let penance = 0;
  return {
    get ratio() {
      return ratio;
    },
    learn({ gasUsed, singleGas }) {
      // Gas of one block fits a float exactly.
      const measured = Number(gasUsed) / Math.max(1, Number(singleGas));
      ratio = ratio === 0 ? measured : MEMORY * ratio + (1 - MEMORY) * measured;
      if (ratio >= 1) [ratio, penance] = [0, PENANCE];
    },
    isWorthwhile(writes) {
      if (writes < 2) return false;
      penance = Math.max(0, penance - writes);
      return penance === 0;
    },
  };
}

/**
 * Divides requests into what goes into one transaction each: writes of many users together, anything else alone.
 *
 * @param requests - claimed, each with its estimated gas
 * @param limits.maxBatchSize - most writes in one transaction
 */
export function gatherWrites(
  requests: readonly OpenRequest[],
  limits: { readonly maxBatchSize: number; readonly thrift: BatchThrift },
): readonly (readonly OpenRequest[])[] {
  const writes = requests.filter(({ record, attempts }) => record.action === 'WRITE_DATA_FOR' && attempts === 0);
  const isGathered = limits.maxBatchSize > 1 && limits.thrift.isWorthwhile(writes.length);
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
