import type { ChainNode } from '../chain/index.ts';

/** Whether a node does what it should. */
export const isWell = ({ faults }: ChainNode): boolean =>
  !faults.isStalled &&
  faults.rateLimit === 'none' &&
  faults.lagBlocks === 0 &&
  !faults.isHeadStuck &&
  faults.broadcast === 'forward' &&
  faults.withholdsLog === undefined;
