import { type TestContext, test } from 'vitest';
import { COVERAGE_IDS, type CoverageId } from '../coverage.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The cases that a test covers. */
    covers?: readonly string[];
  }
}

/**
 * Declares a test and the cases of the contract that it covers.
 *
 * @param ids - as in `coverage.ts`; written out, so that `coverage.test.ts` finds them in the source
 * @throws Error for an id that is no case's
 */
export function covers(ids: readonly CoverageId[], name: string, run: (context: TestContext) => unknown): void {
  for (const id of ids) if (!COVERAGE_IDS.has(id)) throw new Error(`coverage.ts knows no case "${id}".`);
  test(name, { meta: { covers: ids } }, (context) => Promise.resolve(run(context)).then(() => undefined));
}
