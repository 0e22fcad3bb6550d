import { createSeededRandom, type RpcFaultPlan } from '@prism-gateway/testing';

/** What befalls calls to the node, by chance. */
const FAULTS: readonly Exclude<ReturnType<RpcFaultPlan>, undefined>[] = [
  { kind: 'dropBefore' },
  { kind: 'dropAfter' },
  { kind: 'delay', ms: 100 },
  { kind: 'rateLimit' },
  { kind: 'serverError' },
  { kind: 'serverErrorAfter' },
  { kind: 'garbage' },
  { kind: 'wrongId' },
  { kind: 'answer', result: '0xnonsense' },
  { kind: 'error', code: -32603, message: 'internal error' },
  { kind: 'lag', blocks: 2 },
];

/**
 * Has some of the calls to a node go wrong, in every way that a call can.
 *
 * @param options.seed - of the chances
 * @param options.share - of calls that something befalls, from 0 to 1
 */
export function planFaults(options: { readonly seed: number; readonly share: number }): RpcFaultPlan {
  const random = createSeededRandom(options.seed);
  return () => {
    if (random() >= options.share) return undefined;
    return FAULTS[Math.floor(random() * FAULTS.length)];
  };
}
