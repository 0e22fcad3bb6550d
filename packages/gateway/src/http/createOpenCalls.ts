import { tooManyCalls } from './errors.ts';

/** Counts the calls of each client that are under way. */
export interface OpenCalls {
  /** @returns ends the call @throws ApiError TOO_MANY_CALLS */
  begin(client: string): () => void;
}

/**
 * Makes the count. Behind a proxy no connection is a client's: its calls are, one at a time on each of the proxy's connections.
 *
 * @param most - calls of one client under way; 0: any number
 * @see docs/specification.md LIMIT-15
 */
export function createOpenCalls(most: number): OpenCalls {
  const counts = new Map<string, number>();
  if (most === 0) return { begin: () => () => undefined };
  return {
    begin(client) {
      const count = counts.get(client) ?? 0;
      if (count >= most) throw tooManyCalls();
      counts.set(client, count + 1);
      return () => {
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
      };
    },
  };
}
