import type { Lane } from './runLanes.ts';

/**
 * Makes lanes that share a list of prepared calls: each takes the next one that nobody has taken.
 *
 * @param params the calls, how many lanes, and who gets the answers' bodies
 * @returns the lanes
 */
export function createReplayLanes(params: {
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly onBody?: (body: Buffer) => void;
}): Lane[] {
  const { requests, connections, onBody } = params;
  let taken = 0;
  const take = () => requests[taken++];
  const lane: Lane = {
    begin: take,
    next(_status, body) {
      onBody?.(body);
      return take();
    },
  };
  return Array.from({ length: connections }, () => lane);
}
