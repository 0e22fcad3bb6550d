/** One node's answer. */
export interface NodeAnswer<Answer> {
  /** Its place among them, from 0. */
  readonly node: number;
  readonly answer: Answer;
}

interface EachTurn<Node, Answer> {
  readonly ask: (node: Node) => Promise<Answer>;
  /** One that is not well is asked, too, but nobody waits for it as long as another one answers. */
  readonly isWell: (node: Node) => boolean;
  /** How long the others are waited for once one has answered, in milliseconds. */
  readonly timeoutMs: number;
  /** Called with each that was well, and silent for `timeoutMs`. */
  readonly onSilent: (node: Node) => void;
}

/**
 * Asks all nodes the same, each for itself.
 *
 * @returns what those have answered that did so in time, in the order of the nodes
 * @throws what the first of them has thrown, if none answers
 */
export async function askEach<Node, Answer>(
  nodes: readonly Node[],
  { ask, isWell, timeoutMs, onSilent }: EachTurn<Node, Answer>,
): Promise<readonly NodeAnswer<Answer>[]> {
  const answers: NodeAnswer<Answer>[] = [];
  const errors: unknown[] = [];
  const pending = new Set<Node>();
  const { promise: late, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  async function askOne(node: Node, place: number): Promise<void> {
    pending.add(node);
    try {
      answers.push({ node: place, answer: await ask(node) });
      timer ??= setTimeout(resolve, timeoutMs);
    } catch (error) {
      errors.push(error);
    } finally {
      pending.delete(node);
    }
  }
  const asked = nodes.map((node, place) => ({ node, answered: askOne(node, place) }));
  const well = asked.filter(({ node }) => isWell(node));
  await Promise.race([Promise.all(well.map(({ answered }) => answered)), late]);
  for (const { node } of well) if (pending.has(node)) onSilent(node);
  if (answers.length === 0) await Promise.all(asked.map(({ answered }) => answered));
  clearTimeout(timer);
  if (answers.length === 0) throw errors[0];
  return answers.toSorted((one, other) => one.node - other.node);
}
