import type { Awaitable } from '../ports/awaitable.ts';

/** Holds a value back until the turn of the event loop in which it came has ended. */
export type AtEndOfTurn<T> = (value: Awaitable<T>) => Promise<T>;

/**
 * Makes the holding back. Answers that are written one after another wake the process that waits for them once; written each as soon
 * as it is made, with work between them, they wake it each time, which costs the writer more than the answer.
 *
 * @returns the function; values come out in the order in which they came
 */
export function createEndOfTurn<T>(): AtEndOfTurn<T> {
  let held: (() => void)[] = [];

  function release(): void {
    const ready = held;
    held = [];
    for (const go of ready) go();
  }

  function hold(value: T): Promise<T> {
    return new Promise((resolve) => {
      if (held.length === 0) setImmediate(release);
      held.push(() => resolve(value));
    });
  }

  return (value) => (value instanceof Promise ? value.then(hold) : hold(value));
}
