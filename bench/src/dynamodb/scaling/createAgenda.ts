/** Things to do at later ticks. */
export interface Agenda<T> {
  /** @param ticks from now, one or more */
  add(ticks: number, thing: T): void;
  /** Goes on to the next tick. @returns what is due */
  next(): readonly T[];
}

/**
 * Makes an agenda.
 *
 * @returns an empty one
 */
export function createAgenda<T>(): Agenda<T> {
  const due = new Map<number, T[]>();
  let now = 0;
  return {
    add(ticks, thing) {
      const at = now + Math.max(1, Math.round(ticks));
      const things = due.get(at);
      if (things === undefined) due.set(at, [thing]);
      else things.push(thing);
    },
    next() {
      now++;
      const things = due.get(now) ?? [];
      due.delete(now);
      return things;
    },
  };
}
