/** Lets one act at a time through for each name. */
export type InTurn = <T>(name: string, act: () => Promise<T>) => Promise<T>;

/**
 * Makes turns: acts under one name run one after another, in the order in which they came; a failed one holds up nobody.
 * Names that nobody waits under are forgotten.
 */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async function inTurn(name, act) {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.then(act, act);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
