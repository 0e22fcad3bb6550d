import type { BatchBounds, BatchTransition, Report, Transition } from '../../ports/requestStore.ts';
import { inBatch, paramsBytesOf } from './claimAll.ts';
import type { ParamsReader } from './params.ts';

/** Reports under way at once. */
const SLICE = 32;

/** Stands in for the params of records that no answer has room for: nothing is read. */
const noParams: Pick<ParamsReader, 'complete'> = {
  complete: async (heads) => heads.map(({ record }) => ({ ...record, paramsJson: '' })),
};

interface ReportBatch extends BatchBounds {
  readonly reports: readonly Report[];
  /** Makes one report; its record gets its params from the reader. */
  readonly report: (report: Report, params: Pick<ParamsReader, 'complete'>) => Promise<Transition>;
  readonly params: ParamsReader;
}

/**
 * Makes every report of a batch; records that have no more room in the answer are left out of it.
 *
 * @returns one a report, in their order
 * @throws DependencyUnavailableError
 */
export async function reportAll({ reports, report, params, maxParamsBytes }: ReportBatch) {
  const answers: BatchTransition[] = [];
  let bytes = 0;
  while (answers.length < reports.length) {
    const reader = bytes < maxParamsBytes ? params : noParams;
    const slice = reports.slice(answers.length, answers.length + SLICE);
    const transitions = await Promise.all(slice.map((each) => report(each, reader)));
    for (const transition of transitions) {
      const isTooMuch = transition.outcome === 'moved' && bytes >= maxParamsBytes;
      if (transition.outcome === 'moved') bytes += paramsBytesOf(transition.record);
      answers.push(isTooMuch ? { outcome: 'moved' } : inBatch(transition));
    }
  }
  return answers;
}
