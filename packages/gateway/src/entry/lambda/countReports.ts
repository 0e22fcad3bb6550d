import type { RequestStore } from '../../ports/requestStore.ts';

/** Has each report that moves a request counted; nothing else changes. */
export function countReports(requests: RequestStore, count: () => void): RequestStore {
  return {
    ...requests,
    async report(report) {
      const transition = await requests.report(report);
      if (transition.outcome === 'moved') count();
      return transition;
    },
    async reportAll(...given) {
      const transitions = await requests.reportAll(...given);
      for (const { outcome } of transitions) if (outcome === 'moved') count();
      return transitions;
    },
  };
}
