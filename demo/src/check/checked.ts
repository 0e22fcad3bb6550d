/** One thing that was compared. */
export interface Checked {
  /** The condition. */
  readonly claim: string;
  /** The finding, with its figures. */
  readonly found: string;
  readonly isTrue: boolean;
}

/**
 * Makes the outcome of a comparison of many things.
 *
 * @param comparison.faults - one line for each that is not as it must be
 */
export function checkAll(comparison: {
  readonly claim: string;
  readonly found: string;
  readonly faults: readonly string[];
}): Checked {
  const { claim, found, faults } = comparison;
  const some = faults.slice(0, 3).join('; ');
  const isTrue = faults.length === 0;
  return { claim, found: isTrue ? found : `${faults.length} faults: ${some}`, isTrue };
}
