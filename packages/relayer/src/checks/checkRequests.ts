import type { Hex } from 'viem';
import type { RelayedRecord, SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { checkPolicy, checkRequest } from './checkRequest.ts';
import { findNonce, listSignedParts } from './findNonce.ts';
import type { Verdict } from './verdict.ts';

/** A request to check; nonces that an earlier check has found need no second search. */
export interface CheckCandidate {
  readonly record: RelayedRecord;
  readonly wishes?: readonly SignedWish[] | undefined;
}

type Context = Pick<Relay, 'chain' | 'chainId' | 'policy' | 'settings' | 'state' | 'recoverSigner' | 'now'>;

async function findWishes(context: Context, candidate: CheckCandidate, nonces: ReadonlyMap<Hex, bigint>) {
  const { chainId, chain, recoverSigner } = context;
  if (candidate.wishes?.every(({ nonce }) => nonce !== undefined)) return candidate.wishes;
  const wishes: SignedWish[] = [];
  for (const part of listSignedParts(candidate.record)) {
    const { signer, r, s } = part;
    const current = nonces.get(signer) ?? 0n;
    wishes.push({
      signer,
      r,
      s,
      nonce: await findNonce({ part, current, chainId, forwarder: chain.forwarder, recoverSigner }),
    });
  }
  return wishes;
}

/**
 * Checks many requests at once, with few calls to the node: each signer's nonce once, a simulation for each that is in order.
 *
 * @param relay - the relayer on this chain
 * @param candidates - requests to check
 * @returns a verdict a request, by id; one that could not be judged for want of an answer is missing
 * @throws ChainError where the node answers nothing at all
 */
export async function checkRequests(
  relay: Context,
  candidates: readonly CheckCandidate[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const open: CheckCandidate[] = [];
  for (const candidate of candidates) {
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
  const checked = open.filter(isKnown).map(async (candidate) => {
    const { record } = candidate;
    const wishes = await findWishes(relay, candidate, nonces);
    verdicts.set(record.requestId, await checkRequest(relay, { record, wishes, nonces, head, forwarder, seconds }));
  });
  await Promise.allSettled(checked);
  return verdicts;
}
