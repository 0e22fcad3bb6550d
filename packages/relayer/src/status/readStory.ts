import { readTransactions, type WrittenTransaction } from '@prism-gateway/sender';
import type { JournalView, RequestStory } from '../journal/createJournalView.ts';

/** All that a relayer knows of one request, JSON as it stands. */
export interface Story extends RequestStory {
  /** Those that were signed for it, oldest first: a fee bump is one more under the same account nonce. */
  readonly transactions: readonly WrittenTransaction[];
}

/**
 * Reads all that a relayer knows of one request.
 *
 * @param senderPath - the journal of its sender
 * @returns undefined for a request that it does not know
 * @throws Error of node:sqlite
 */
export function readStory(view: JournalView, senderPath: string, requestId: string): Story | undefined {
  const story = view.explain(requestId);
  if (story === undefined) return undefined;
  const intentIds = story.submissions.map(({ intentId }) => intentId);
  return { ...story, transactions: readTransactions(senderPath, intentIds) };
}
