/** So many nodes have to agree. */
export const MAJORITY = 2;

/**
 * Asks all nodes the same. Once more than half of them, and two, say the same, those that are silent are not waited for.
 *
 * @param vote.ask - undefined of one without an answer
 * @param vote.describe - the same text of what is the same
 * @returns what was said
 */
export async function gatherVotes<Node, Vote>(
  nodes: readonly Node[],
  {
    ask,
    describe,
  }: { readonly ask: (node: Node) => Promise<Vote | undefined>; readonly describe: (vote: Vote) => string },
): Promise<readonly Vote[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Vote[]>();
  const said: Vote[] = [];
  const asked = nodes.map(async (node) => {
    const vote = await ask(node);
    if (vote === undefined) return;
    said.push(vote);
    const same = said.filter((other) => describe(other) === describe(vote)).length;
    if (same >= MAJORITY && 2 * same > nodes.length) resolve([...said]);
  });
  Promise.all(asked).then(() => resolve(said), reject);
  return await promise;
}

/** What most say. @returns those who say so; none where as many say otherwise */
export function findMost<Vote>(said: readonly Vote[], describe: (vote: Vote) => string): readonly Vote[] {
  const groups = [...Map.groupBy(said, describe).values()].toSorted((one, other) => other.length - one.length);
  const [most = [], next = []] = groups;
  return most.length === next.length ? [] : most;
}

/** What counts of what was said: of those that are fresh, where any is, and then one alone is believed; two others have to agree. */
export function weighVotes<Vote extends { readonly isFresh: boolean }>(
  said: readonly Vote[],
  describe: (vote: Vote) => string,
): Vote | undefined {
  const fresh = said.filter(({ isFresh }) => isFresh);
  const most = findMost(fresh.length > 0 ? fresh : said, describe);
  return most.length >= MAJORITY || fresh.length === 1 ? most[0] : undefined;
}
