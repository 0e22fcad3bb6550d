import type { Hex } from 'viem';
import type { RelayedRecord } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { checkPolicy, checkRequest } from './checkRequest.ts';
import type { NonceSearch } from './createNonceSearch.ts';
import { listSignedParts } from './findNonce.ts';
import type { Verdict } from './verdict.ts';

/** A request to check, and what is known of the nonces it was signed for: they are looked for further. */
export interface CheckCandidate {
  readonly record: RelayedRecord;
  readonly search: NonceSearch;
}

type Context = Pick<Relay, 'chain' | 'chainId' | 'policy' | 'settings' | 'state' | 'recoverSigner' | 'now'>;

/** Whoever posts a bad signature has it recovered with many nonces: large requests come last, so that small ones wait for none of it. */
async function searchNonces(
  { chain, chainId, recoverSigner }: Context,
  search: {
    readonly candidates: readonly CheckCandidate[];
    readonly nonces: ReadonlyMap<Hex, bigint>;
    readonly maxTries: number;
  },
): Promise<void> {
  const { candidates, nonces, maxTries } = search;
  const context = { chainId, forwarder: chain.forwarder, recoverSigner };
  for (const candidate of candidates) await candidate.search.tryNext(context, nonces);
  const size = ({ record }: CheckCandidate) => listSignedParts(record).length;
  let left = maxTries;
  for (const candidate of candidates.toSorted((a, b) => size(a) - size(b))) {
    if (left <= 0) return;
    left -= await candidate.search.lookAround(context, { nonces, maxTries: left });
  }
}

/**
 * Checks many requests at once, with few calls to the node: each signer's nonce once, a simulation for each that is in order.
 *
 * @param relay - the relayer on this chain
 * @param check.candidates - requests to check
 * @param check.maxTries - how many nonces may be tried for those that are not in their turn; default any number. What is then not
 * found yet is left as `nonceUnknown`, and the next check goes on with it
 * @returns a verdict a request, by id; one that could not be judged for want of an answer is missing
 * @throws ChainError where the node answers nothing at all
 */
export async function checkRequests(
  relay: Context,
  check: { readonly candidates: readonly CheckCandidate[]; readonly maxTries?: number },
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const open: CheckCandidate[] = [];
  for (const candidate of check.candidates) {
    const verdict = checkPolicy(relay, candidate.record);
    if (verdict === undefined) open.push(candidate);
    else verdicts.set(candidate.record.requestId, verdict);
  }
  if (open.length === 0) return verdicts;
  const signers = open.flatMap(({ record }) => listSignedParts(record).map(({ signer }) => signer));
  const { state } = relay;
  const [nonces, head, forwarder, seconds] = await Promise.all([
    relay.chain.nonces(signers),
    state.head(),
    state.policy(),
    state.seconds(),
  ]);
  const isKnown = ({ record }: CheckCandidate) => listSignedParts(record).every(({ signer }) => nonces.has(signer));
  const known = open.filter(isKnown);
  await searchNonces(relay, { candidates: known, nonces, maxTries: check.maxTries ?? Number.POSITIVE_INFINITY });
  const checked = known.map(async ({ record, search }) => {
    const input = { record, wishes: search.wishes(), nonces, head, forwarder, seconds };
    verdicts.set(
      record.requestId,
      search.isDone(nonces)
        ? await checkRequest(relay, input)
        : { kind: 'leave', reason: 'nonceUnknown', recheckAtMs: relay.now() },
    );
  });
  await Promise.allSettled(checked);
  return verdicts;
}
