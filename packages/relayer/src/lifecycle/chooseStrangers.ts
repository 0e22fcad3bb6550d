import type { ProveSignatures } from '../checks/proveSignatures.ts';
import type { Candidate } from './createCandidates.ts';
import { listFirst, takeTurns } from './listDue.ts';

/** Most signatures that are proven at a time: a fifth of a second of work. */
const MAX_PROOFS = 300;
/** Most requests that are judged together: what a node answers in a moment. */
const MAX_PROVEN = 100;
/** Fewer of those whose signer is not proven: who comes in the meantime waits for no more of them. */
const MAX_UNPROVEN = 25;

/** Whether the named signer's own key has signed it: as was told at first, or was found when it was judged, for a later nonce. */
function isKeys({ isProven, verdict, search }: Candidate): boolean {
  return isProven === true || (verdict !== undefined && search.signatures().every(({ nonce }) => nonce !== undefined));
}

/**
 * Chooses which of the strangers' requests are judged next. Those that the named signer's own key has signed come first: whoever posts in
 * names that are made up, or in contract wallets', which nobody can prove without asking the chain for each, delays none of them.
 *
 * @param ports.prove - tells whether a key has signed
 * @param due - all of strangers that are to be judged
 * @returns lots to be judged one after the other
 * @throws ChainError where the node answers nothing at all
 * @see docs/specification.md RELAY-17
 */
export async function chooseStrangers(
  { prove }: { readonly prove: ProveSignatures },
  due: readonly Candidate[],
): Promise<readonly (readonly Candidate[])[]> {
  const unknown = takeTurns(
    due.filter(({ isProven }) => isProven === undefined),
    MAX_PROOFS,
  );
  const told = unknown.length === 0 ? undefined : await prove(unknown);
  for (const candidate of unknown) candidate.isProven = told?.get(candidate.record.requestId);
  const looked = due.filter(({ isProven }) => isProven !== undefined);
  const [proven, unproven] = [looked.filter(isKeys), looked.filter((candidate) => !isKeys(candidate))];
  const lots = [listFirst(proven, MAX_PROVEN), listFirst(unproven, MAX_UNPROVEN)];
  return lots.filter((lot) => lot.length > 0);
}
