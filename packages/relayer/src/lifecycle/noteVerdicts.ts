import type { Verdict } from '../checks/verdict.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { JudgedRequest } from '../journal/openJudgedTable.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { Candidate, Candidates } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { RefusalWatch } from './createRefusalWatch.ts';
import type { RequestCounts } from './createRequestCounts.ts';
import { createGapQuestion, type GapPorts, giveUpBlocked } from './giveUpBlocked.ts';

/** What noting goes through. */
export interface NotePorts extends GapPorts {
  readonly candidates: Pick<Candidates, 'judge'>;
  readonly journal: Pick<Journal, 'judge'>;
  readonly policy: Pick<RelayPolicy, 'giveUpMs'>;
  readonly notes: Pick<ChainNotes, 'checked' | 'requests'>;
  readonly counts: Pick<RequestCounts, 'current'>;
  readonly refusals: Pick<RefusalWatch, 'note'>;
  readonly now: () => number;
}

/** What was found of a candidate. */
export interface Judged {
  readonly candidate: Candidate;
  readonly verdict: Verdict;
}

/** What is written of a verdict: the journal is told only of what has changed. */
function summarise(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if (verdict.kind === 'ready') return 'ready';
  return `${verdict.kind} ${verdict.kind === 'leave' ? verdict.reason : ''} ${verdict.errorMessage}`;
}

/**
 * `seen` becomes `checked` or `left`, with the verdict in memory and journal. What has been in the way for too long is given up.
 *
 * @param ports - memory, journal, and who is asked about what comes before a request
 * @param all - what was found
 * @throws GatewayError where the gateway does not answer
 */
export async function noteVerdicts(ports: NotePorts, all: readonly Judged[]): Promise<void> {
  const { candidates, journal, notes, counts, refusals, now } = ports;
  const isGapAwaited = createGapQuestion(ports);
  const changed: JudgedRequest[] = [];
  for (const { candidate, verdict } of all) {
    const before = summarise(candidate.verdict);
    candidates.judge(candidate, verdict, now());
    const settled = await giveUpBlocked(ports, candidate, isGapAwaited);
    if (settled !== undefined) candidates.judge(candidate, settled, now());
    const judged = settled ?? verdict;
    notes.checked(judged.kind === 'leave' ? judged.reason : judged.kind);
    refusals.note(candidate.record.signer, judged);
    if (summarise(judged) !== before) changed.push({ record: candidate.record, verdict: judged, nowMs: now() });
  }
  journal.judge(changed);
  notes.requests(counts.current());
}
