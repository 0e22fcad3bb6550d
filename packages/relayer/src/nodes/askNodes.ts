import { setTimeout as sleep } from 'node:timers/promises';
import { ChainError } from '../chain/chainError.ts';
import type { Events, Statement } from '../events/events.ts';

/** So many nodes have to agree. */
export const MAJORITY = 2;

/** How long a node is waited for that was silent before, in milliseconds. */
const GRACE_MS = 1000;

/** Waits for an answer. @returns undefined if there is none */
export type AdaptiveWait = <T>(asked: Promise<T | undefined>) => Promise<T | undefined>;

/** Makes the wait for one node: after one answer that did not come, it waits at most 1 s for this node until that answers again. */
export function createAdaptiveWait(isKnownSilent = false): AdaptiveWait {
  let isSilent = isKnownSilent;
  return async function wait(asked) {
    const answered = asked.then((answer) => {
      isSilent = answer === undefined;
      return answer;
    });
    if (!isSilent) return await answered;
    const over = new AbortController();
    const late = sleep(GRACE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    try {
      return await Promise.race([answered, late]);
    } finally {
      over.abort();
    }
  };
}

/** A node by itself. */
export interface AskedNode {
  /** Its name where its URL must not stand. */
  readonly name: string;
  readonly wait: AdaptiveWait;
}

/** How votes are counted. */
export interface Ballot<Vote> {
  /** The same text for votes that say the same. */
  readonly describe: (vote: Vote) => string;
  /** Whether the node was up to date; if any was, the others do not count. Default: all are. */
  readonly isFresh?: (vote: Vote) => boolean;
  /** Whether a vote may decide if `nodes` nodes say so. Default: each may. */
  readonly decides?: (vote: Vote, nodes: number) => boolean;
}

/** A vote, and whose it is. */
export interface NodeVote<Node, Vote> {
  readonly node: Node;
  readonly vote: Vote;
}

/** The nodes' joint answer. */
export interface NodesAnswer<Node, Vote> {
  /** Of those who agree the first one's; undefined: they do not agree. */
  readonly agreed: Vote | undefined;
  /** All that agree. */
  readonly most: readonly NodeVote<Node, Vote>[];
  /** Of all that answered. */
  readonly votes: readonly NodeVote<Node, Vote>[];
  /** Why the first one without an answer had none. */
  readonly fault: ChainError | undefined;
}

/** @returns the error if there is no answer */
export async function withoutAnswer<T>(asked: Promise<T>): Promise<T | ChainError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChainError) return error;
    throw error;
  }
}

/** The vote of most nodes. @returns those who say so; none if as many say otherwise */
export function findMost<Vote>(votes: readonly Vote[], describe: (vote: Vote) => string): readonly Vote[] {
  const groups = [...Map.groupBy(votes, describe).values()].toSorted((one, other) => other.length - one.length);
  const [most = [], next = []] = groups;
  return most.length === next.length ? [] : most;
}

/** Counts votes: two have to agree, and be more than say otherwise; one is believed only if no other answers, or all others are behind. */
export function countVotes<Node, Vote>(
  votes: readonly NodeVote<Node, Vote>[],
  { describe, isFresh = () => true, decides = () => true }: Ballot<Vote>,
): Pick<NodesAnswer<Node, Vote>, 'agreed' | 'most'> {
  const fresh = votes.filter(({ vote }) => isFresh(vote));
  const most = findMost(fresh.length > 0 ? fresh : votes, ({ vote }) => describe(vote));
  const first = most[0]?.vote;
  const isAgreed = most.length >= MAJORITY || fresh.length === 1;
  return { most, agreed: first !== undefined && isAgreed && decides(first, most.length) ? first : undefined };
}

/** Shows the operator which node says what, for as long as they do not agree. */
export function reportDispute<Node extends AskedNode, Vote>(
  events: Events,
  { subject, votes, agreed }: Pick<NodesAnswer<Node, Vote>, 'votes' | 'agreed'> & { readonly subject: string },
  { describe, says }: Pick<Ballot<Vote>, 'describe'> & { readonly says: (vote: Vote) => string },
): void {
  const isDisputed = agreed === undefined && new Set(votes.map(({ vote }) => describe(vote))).size > 1;
  const dispute = votes.map(({ node: { name }, vote }): Statement => ({ name, says: says(vote) }));
  events.emit({ type: 'nodes-asked', subject, dispute: isDisputed ? dispute : [] });
}

/**
 * Asks all nodes the same, and counts what they say: the one place where nodes outvote each other. Once more than half of them, and two, say
 * the same, those that are silent are not waited for. While they do not agree, the health says which says what.
 *
 * @param question.ask - undefined of a node without an answer; a ChainError is one, too
 * @param question.subject - what it is about, for the operator
 * @param question.says - what a vote says, for the operator
 * @see docs/specification.md RELAY-20
 */
export async function askNodes<Node extends AskedNode, Vote>(
  nodes: readonly Node[],
  question: Ballot<Vote> & {
    readonly ask: (node: Node) => Promise<Vote | undefined>;
    readonly subject: string;
    readonly says: (vote: Vote) => string;
    readonly events: Events;
  },
): Promise<NodesAnswer<Node, Vote>> {
  const { ask, subject, describe, events, isFresh = () => true } = question;
  const { promise, resolve, reject } = Promise.withResolvers<readonly NodeVote<Node, Vote>[]>();
  const votes: NodeVote<Node, Vote>[] = [];
  let fault: ChainError | undefined;
  async function take(node: Node): Promise<Vote | undefined> {
    const answer = await withoutAnswer(ask(node));
    if (!(answer instanceof ChainError)) return answer;
    fault ??= answer;
    return undefined;
  }
  const key = (vote: Vote) => `${isFresh(vote)} ${describe(vote)}`;
  const asked = nodes.map(async (node) => {
    const vote = await node.wait(take(node));
    if (vote === undefined) return;
    votes.push({ node, vote });
    // Those that are fresh and those that are behind are counted apart.
    const same = votes.filter((other) => key(other.vote) === key(vote)).length;
    if (same >= MAJORITY && 2 * same > nodes.length) resolve([...votes]);
  });
  Promise.all(asked).then(() => resolve(votes), reject);
  const given = await promise;
  const counted = countVotes(given, question);
  reportDispute(events, { subject, votes: given, agreed: counted.agreed }, question);
  return { ...counted, votes: given, fault };
}
