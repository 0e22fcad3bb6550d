import { type Candidate, isDue } from './createCandidates.ts';

/** Most requests of those who pay that are checked together: what a node answers in a moment. */
const MAX_CUSTOMERS = 200;
/** Most of them that were judged before. */
const MAX_RECHECKS = 100;

export interface DuePorts {
  /** Whether a signer has paid for a transaction of this relayer before. */
  readonly isCustomer: (signer: string) => boolean;
  readonly now: () => number;
}

/** What is to be judged now. */
interface Due {
  /** Of signers that have paid before, as much as can be judged in a moment. */
  readonly customers: readonly Candidate[];
  /** All of the others. */
  readonly strangers: readonly Candidate[];
}

/** The last one, the first, the last but one, the second, …: what has come last and what waits for longest get on alike. */
function fromBothEnds<T>(list: readonly T[]): T[] {
  const middle = Math.floor(list.length / 2);
  const [oldest, newest] = [list.slice(0, middle), list.slice(middle).toReversed()];
  return newest.flatMap((one, index) => [one, ...oldest.slice(index, index + 1)]);
}

/**
 * Takes one of each signer in turn, the newest first: what is posted in one name, by whomever, holds no other one up. However many names there
 * are, half of the turns are those of the names that have come last.
 */
export function takeTurns(candidates: readonly Candidate[], count: number): Candidate[] {
  const bySigner = Map.groupBy(candidates, ({ record }) => record.signer.toLowerCase());
  const taken: Candidate[] = [];
  for (let stacks = fromBothEnds([...bySigner.values()]); stacks.length > 0 && taken.length < count; ) {
    for (const stack of stacks) taken.push(...stack.splice(-1));
    stacks = stacks.filter((stack) => stack.length > 0);
  }
  return taken.slice(0, count);
}

/** What was never judged comes first: what was left, and is looked at again, would keep the rest from ever being looked at. */
export function listFirst(due: readonly Candidate[], count: number): Candidate[] {
  const fresh = takeTurns(
    due.filter(({ verdict }) => verdict === undefined),
    count,
  );
  const again = due.filter(({ verdict }) => verdict !== undefined);
  return [...fresh, ...takeTurns(again, Math.min(MAX_RECHECKS, count - fresh.length))];
}

/**
 * Lists what is to be judged now: those of signers that have paid before apart from strangers', so that they can be judged without
 * waiting for them.
 */
export function listDue({ isCustomer, now }: DuePorts, seen: readonly Candidate[]): Due {
  const nowMs = now();
  const known = new Map<string, boolean>();
  const isKnown = ({ record: { signer } }: Candidate) => {
    const isPaying = known.get(signer) ?? isCustomer(signer);
    known.set(signer, isPaying);
    return isPaying;
  };
  const due = seen.filter((candidate) => isDue(candidate, nowMs));
  const strangers = due.filter((candidate) => !isKnown(candidate));
  return { customers: listFirst(due.filter(isKnown), MAX_CUSTOMERS), strangers };
}
