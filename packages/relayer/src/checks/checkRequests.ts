import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';
import { type CheckContext, checkRequest } from './checkRequest.ts';
import type { NonceSearch } from './createNonceSearch.ts';
import { extendRuns } from './extendRuns.ts';
import { listSignedParts, type NonceContext } from './findNonce.ts';
import { readFacts, type ScreensContext, screenRequests } from './screenRequests.ts';
import type { Verdict } from './verdict.ts';

/** A request to check, and what is known of the nonces it was signed for: they are looked for further. */
export interface CheckCandidate {
  readonly record: RelayedRecord;
  readonly search: NonceSearch;
}

/** What the checks of many requests ask, and what they go by. */
export interface ChecksContext extends CheckContext {
  readonly chain: Pick<ChainReader, 'simulate' | 'extraCost' | 'nonces' | 'forwarder' | 'relayer'>;
  readonly state: ScreensContext['state'];
  readonly recovery: NonceContext;
}

/** What checks have found. */
export interface Checked {
  /** By request id. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Why a request could not be judged, by its id: a ChainError where the node did not say what was asked. */
  readonly failures: ReadonlyMap<string, Error>;
}

/** Checks requests of one chain. @see checkRequests */
export type CheckRequests = (check: {
  readonly candidates: readonly CheckCandidate[];
  readonly maxTries?: number;
}) => Promise<Checked>;

/**
 * Whoever posts a bad signature has it recovered with many nonces. Every request has the few tried first that honest ones are signed for;
 * of what is left, large requests come last, so that small ones wait for none of it.
 */
async function searchNonces(
  context: NonceContext,
  search: {
    readonly candidates: readonly CheckCandidate[];
    readonly nonces: ReadonlyMap<Hex, bigint>;
    readonly maxTries: number;
  },
): Promise<void> {
  const { candidates, nonces, maxTries } = search;
  for (const candidate of candidates) await candidate.search.tryNext(context, nonces);
  const size = ({ record }: CheckCandidate) => listSignedParts(record).length;
  const bySize = candidates.toSorted((a, b) => size(a) - size(b));
  for (const candidate of bySize) if (size(candidate) === 1) await candidate.search.tryFew(context, nonces);
  let left = maxTries;
  for (const candidate of bySize) {
    if (left <= 0) return;
    left -= await candidate.search.lookAround(context, { nonces, maxTries: left });
  }
}

/**
 * Checks many requests at once, with few calls to the node: none for what cannot be carried out anyway, each signer's nonce once, a
 * simulation for each that is in order.
 *
 * @param context - chain, settings and clock
 * @param check.candidates - requests to check
 * @param check.maxTries - how many nonces may be tried for those that are not in their turn; default any number. What is then not
 * found yet is left as `nonceUnknown`, and the next check goes on with it
 * @returns a verdict, or why there is none, for each
 * @throws ChainError where the node answers nothing at all
 */
export async function checkRequests(context: ChecksContext, check: Parameters<CheckRequests>[0]): Promise<Checked> {
  const failures = new Map<string, Error>();
  const screened = await screenRequests(
    context,
    check.candidates.map(({ record }) => record),
  );
  const verdicts = new Map(screened);
  const open = check.candidates.filter(({ record }) => !verdicts.has(record.requestId));
  if (open.length === 0) return { verdicts, failures };
  const facts = await readFacts(context);
  const signers = open.flatMap(({ record }) => listSignedParts(record).map(({ signer }) => signer));
  const nonces = signers.length === 0 ? new Map() : await context.chain.nonces(signers);
  const known: CheckCandidate[] = [];
  for (const candidate of open) {
    const unread = listSignedParts(candidate.record).find(({ signer }) => !nonces.has(signer));
    if (unread === undefined) known.push(candidate);
    else failures.set(candidate.record.requestId, unreadNonce(unread.signer));
  }
  await searchNonces(context.recovery, {
    candidates: known,
    nonces,
    maxTries: check.maxTries ?? Number.POSITIVE_INFINITY,
  });
  async function judge({ record, search }: CheckCandidate): Promise<void> {
    const input = { record, signatures: search.signatures(), nonces, ...facts };
    try {
      verdicts.set(
        record.requestId,
        search.isDone(nonces) ? await checkRequest(context, input) : unsearched(context.now()),
      );
    } catch (error) {
      // Whatever one request does to its check, the others are judged.
      failures.set(record.requestId, error instanceof Error ? error : new Error(String(error)));
    }
  }
  await Promise.all(known.map(judge));
  // What cannot be asked now waits for its turn, as it would without a run.
  await extendRuns(context, { candidates: known, verdicts, facts }).catch((error: unknown) => {
    if (!(error instanceof ChainError)) throw error;
  });
  return { verdicts, failures };
}

function unsearched(nowMs: number): Verdict {
  return { kind: 'leave', reason: 'nonceUnknown', recheckAtMs: nowMs };
}

function unreadNonce(signer: Hex): ChainError {
  return new ChainError('RPC_UNAVAILABLE', `The node did not say the forwarder nonce of ${signer}.`);
}
