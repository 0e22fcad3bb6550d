/** How much of what was learned before counts against the newest batch. */
const MEMORY = 0.8;
/** How many lone writes are sent singly after a batch turned out dear, before another is tried. */
const PENANCE = 200;

/** Whether many users' writes are cheaper in one transaction. */
export interface BatchCostTracker {
  /** Gas of a batch over that of its writes sent singly, as far as it is known; 0 before the first one. */
  readonly ratio: number;
  /** Notes what a batch has used, and what its writes were estimated at singly. */
  learn(batch: { readonly gasUsed: bigint; readonly singleGas: bigint }): void;
  /** Whether writes are to be gathered now. */
  isWorthwhile(writes: number): boolean;
}

/** Makes the memory of what batches cost; the first ones are tried. */
export function createBatchCostTracker(): BatchCostTracker {
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
