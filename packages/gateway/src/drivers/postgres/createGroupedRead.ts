/** The rows of one statement. */
interface Group<V> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, V>>;
}

/**
 * Reads by key, of which one statement at a time is under way: what is asked for meanwhile shares the next one, so that each answer is as
 * new as its question.
 *
 * @param readAll - reads all that is there of some keys
 * @returns reads one key; undefined: it is not there
 */
export function createGroupedRead<V>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Group<V> | undefined;

  function openGroup(): Group<V> {
    const keys = new Set<string>();
    const found = running.then(() => {
      next = undefined;
      return readAll([...keys]);
    });
    // A read that fails is reported to those who asked; the next one is tried anew.
    running = found.catch(() => undefined);
    return { keys, found };
  }

  return async function read(key) {
    next ??= openGroup();
    next.keys.add(key);
    return (await next.found).get(key);
  };
}
