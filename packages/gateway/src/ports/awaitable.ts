/** What may be there at once: where a driver has the answer in memory, waiting for it would cost more than the answer. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Goes on with a value, at once where it is there.
 *
 * @throws what `next` throws, where the value is there; else the promise rejects with it
 */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
