/** A value that may be there at once: if a driver has the answer in memory, waiting for it would cost more than the answer. */
export type Awaitable<T> = T | Promise<T>;
