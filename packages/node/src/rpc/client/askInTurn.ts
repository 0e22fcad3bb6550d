interface Turns<Node, Answer> {
  /** Asks one. @returns undefined: it has no answer that counts, and the next one is asked */
  readonly ask: (node: Node) => Promise<Answer | undefined>;
  /** How long one may be silent before the next one is asked as well, in milliseconds. */
  readonly timeoutMs: number;
  /** Called with each that was silent for `timeoutMs`. */
  readonly onSilent: (node: Node) => void;
}

/**
 * Asks one after the other until one has an answer that counts. One that is silent holds nobody up: the next one is asked beside it, and
 * whichever answers first counts.
 *
 * @param nodes - in the order in which they are asked
 * @returns undefined if none has such an answer
 * @throws what `ask` throws, at once
 */
export async function askInTurn<Node, Answer>(
  nodes: readonly Node[],
  { ask, timeoutMs, onSilent }: Turns<Node, Answer>,
): Promise<Answer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
  const timers = new Set<NodeJS.Timeout>();
  const rest = [...nodes];
  let open = 0;
  function askNext(): void {
    const node = rest.shift();
    if (node === undefined) {
      if (open === 0) resolve(undefined);
      return;
    }
    open += 1;
    const timer = setTimeout(() => {
      timers.delete(timer);
      onSilent(node);
      askNext();
    }, timeoutMs);
    // For the last one there is nobody to be asked instead.
    if (rest.length === 0) clearTimeout(timer);
    else timers.add(timer);
    ask(node).then((answer) => {
      open -= 1;
      if (answer !== undefined) return resolve(answer);
      clearTimeout(timer);
      if (timers.delete(timer) || open === 0) askNext();
    }, reject);
  }
  askNext();
  try {
    return await promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
