import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { earliestTimestamp } from '../checks/findNonce.ts';
import type { Accusation, Checked } from './createFindingCheck.ts';
import { evaluateReleases } from './evaluateReleases.ts';
import { createDigestTest, type Evaluation, evaluateReport } from './evaluateReport.ts';
import { describeFinding, type Finding } from './finding.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import type { WatchedRow } from './journal/openWatchedTable.ts';
import type { StoredFinding } from './journal/openWatchJournal.ts';
import type { Reading, WatchOptions } from './watchContext.ts';

/** What nodes say that is a finding, and accuses nobody. */
const HARMLESS = {
  otherForwarder:
    'It was carried out by another Forwarder, for which it was signed: compare FORWARDER_ADDRESS of watchtower and relayer.',
  reorganised:
    'Its relayer has carried it out in another transaction than it named, which no block holds: a reorganisation may have undone that while nobody looked.',
} as const;
/** The evaluation on one request, whose it is, and what a finding rests on. */
type Evaluated = { readonly evaluation: Evaluation; readonly signers: ReadonlySet<Hex> } & Required<
  Omit<Accusation, 'finding'>
>;

/** So long after a gap a claim may rest on what was seen in it, in seconds. */
const SETTLED_SECONDS = 60n;

/** Evaluates one request. @param watchedSince - since when nothing was missed, in Unix seconds */
function evaluate(
  options: WatchOptions,
  { chain: { head }, namedExecutions, sent }: Reading,
  { row, watchedSince }: { readonly row: WatchedRow; readonly watchedSince: bigint },
): Evaluated {
  const { journal, confirmations, leaseSeconds, chainId, forwarder } = options;
  const { requestId, relayer, claimNonce, txHash, excuse, idleSeconds, endedBlock } = row;
  // Of what is claimed or ended, all of that is known.
  const body = JSON.parse(row.body as string) as Pick<RequestRecord, 'action' | 'params' | 'errorMessage'>;
  const test = createDigestTest(body, { chainId, forwarder });
  const named = namedExecutions.filter((execution) => execution.txHash === txHash && test.isOf(execution));
  const seen = named.length > 0 ? [] : journal.executionsOf(test.signers, earliestTimestamp(body));
  const report = {
    ...{ requestId, relayer: relayer as Hex, txHash, excuse, idleSeconds, endedBlock },
    ...{ errorMessage: body.errorMessage, endedSeconds: row.endedSeconds ?? 0n },
    status: row.status as 'processing' | 'success' | 'failed',
    claimedSeconds: row.claimedSeconds ?? 0n,
    expiresSeconds: row.expiresSeconds ?? 0n,
  };
  const hasActed = claimNonce === undefined || (sent.get(report.relayer) ?? 0) > claimNonce;
  const executions = [...named, ...seen.filter(test.isOf)];
  const evaluation = evaluateReport(report, { head, confirmations, leaseSeconds, executions, hasActed });
  const { claimedSeconds, endedSeconds, expiresSeconds } = report;
  const times = { claimedSeconds, endedSeconds, expiresSeconds, reportedSeconds: row.reportedSeconds ?? 0n };
  const isWatched = claimedSeconds > watchedSince + SETTLED_SECONDS;
  const known = {
    request: body,
    named: txHash,
    claimNonce: hasActed ? undefined : claimNonce,
    isOf: test.isOf,
    isWatched,
  };
  return { evaluation, signers: test.signers, report: { ...known, ...times } };
}

/** Findings that nodes have yet to confirm, and what they have said, by kind and request. */
export interface Suspicions {
  readonly raised: Map<string, Accusation>;
  readonly checked: ReadonlyMap<string, Checked>;
}

const keyOf = ({ kind, requestId, relayer }: Finding) => `${kind} ${requestId} ${relayer}`;

/** Puts a finding down, with its alert. @returns undefined if it is known */
function put({ journal, alerter, now }: WatchOptions, found: Finding): StoredFinding | undefined {
  const finding = journal.addFinding(found, now());
  if (finding !== undefined) alerter.raise(describeFinding(finding));
  return finding;
}

/** Puts down what follows from an evaluation. @returns the finding, if it is new */
function finalize(
  options: WatchOptions,
  { raised, checked }: Suspicions,
  { row, evaluated: { evaluation, signers, report } }: { readonly row: WatchedRow; readonly evaluated: Evaluated },
): StoredFinding | undefined {
  const { journal } = options;
  const { requestId } = row;
  if (evaluation === 'again') return undefined;
  if (evaluation === 'watch') return void journal.watch(requestId, signers);
  if (evaluation === 'done') return void journal.finish(requestId);
  const key = keyOf(evaluation);
  const word = checked.get(key);
  if (word === undefined) raised.set(key, { finding: evaluation, report });
  if ((word === 'refuted' || word === 'confirmed') && row.state === 'held') journal.resetIdle(requestId);
  if (word === 'refuted' && row.status === 'failed') {
    journal.excuse(requestId);
    journal.watch(requestId, signers);
  }
  if (word === undefined || word === 'refuted' || word === 'unknown') return undefined;
  // A held request is watched on: it can still be reported.
  if (row.state !== 'held') journal.finish(requestId);
  if (word === 'confirmed') return put(options, evaluation);
  const kind = word === 'replaced' ? 'reorganised' : word;
  return put(options, { ...evaluation, kind, text: HARMLESS[kind] });
}

/**
 * How long a look evaluates what was reported failed, in milliseconds; the next one goes on. Each is compared with all that its signer has carried
 * out since it was signed, anybody may post what fails in the name of a busy signer, and a long look excuses whoever lies meanwhile.
 */
const MAX_FAILED_MS = 2000;

/** Evaluates what is held and what has ended, failures last. @returns findings that are new */
export function evaluateAll(
  options: WatchOptions,
  suspicions: Suspicions,
  { reading, watchedSince }: { readonly reading: Reading; readonly watchedSince: bigint },
): StoredFinding[] {
  const { journal, leaseSeconds, monotonicNow } = options;
  const rows = [...journal.listEnded(), ...journal.listIdle(leaseSeconds)];
  const untilMs = monotonicNow() + MAX_FAILED_MS;
  const order = ({ status }: WatchedRow) => Number(status === 'failed');
  return rows
    .toSorted((one, other) => order(one) - order(other))
    .flatMap((row) => {
      if (row.status === 'failed' && monotonicNow() > untilMs) return [];
      const evaluated = evaluate(options, reading, { row, watchedSince });
      return finalize(options, suspicions, { row, evaluated }) ?? [];
    });
}

/** Finds who holds and gives back without end. @returns findings that are new */
export function finalizeReleases(
  options: WatchOptions,
  { raised, checked }: Suspicions,
  head: SeenHead,
): StoredFinding[] {
  const { journal, leaseSeconds } = options;
  return evaluateReleases(journal, { head, leaseSeconds }).flatMap((finding) => {
    const word = checked.get(keyOf(finding));
    if (word === undefined) raised.set(keyOf(finding), { finding });
    if (word === undefined || word === 'unknown') return [];
    journal.forgetReleases({ relayer: finding.relayer });
    return word === 'confirmed' ? (put(options, finding) ?? []) : [];
  });
}
