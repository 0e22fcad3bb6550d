import type { RpcFault, RpcFaultPlan } from '@prism-gateway/testing';

/** A fault of the node that an operator's instances are given. */
export interface NodeFault {
  readonly name: string;
  /** Only the contract `Payouts` stands against it. */
  readonly needsContract: boolean;
  /** Makes what befalls calls; of a node of its own. */
  plan(random: () => number): RpcFaultPlan;
}

/** A node that is behind is so by fewer blocks than a relayer compares, `REORG_DEPTH`. */
const LAG_BLOCKS = 8;
const NO_LOGS = `0x${'00'.repeat(256)}`;

/** Logs of a node that has not indexed the newest blocks. */
function dropNewest(params: readonly unknown[]): RpcFault {
  // The one parameter of `eth_getLogs` is a filter, by range or by block.
  const { toBlock } = params[0] as { readonly toBlock?: string };
  const last = BigInt(toBlock ?? 0) - BigInt(LAG_BLOCKS);
  return {
    kind: 'change',
    change: (logs) =>
      (logs as readonly { readonly blockNumber: string }[]).filter(({ blockNumber }) => BigInt(blockNumber) <= last),
  };
}

function beBehind(method: string, params: readonly unknown[]): RpcFault {
  return method === 'eth_getLogs' ? dropNewest(params) : { kind: 'lag', blocks: LAG_BLOCKS };
}

/** A lie about logs, heads, counts, or what a block holds. */
function lie(method: string, random: () => number): RpcFault | undefined {
  if (method === 'eth_getLogs') return { kind: 'answer', result: [] };
  if (method === 'eth_getTransactionByHash') return { kind: 'answer', result: null };
  if (method === 'eth_getTransactionCount') return { kind: 'lag', blocks: 1 + Math.floor(random() * 20) };
  if (method !== 'eth_getBlockByNumber') return undefined;
  return { kind: 'change', change: (block) => ({ ...(block as object), logsBloom: NO_LOGS }) };
}

/** All kinds, soundness among them. */
export const NODE_FAULTS: readonly NodeFault[] = [
  { name: 'a sound node', needsContract: false, plan: () => () => undefined },
  {
    name: 'stale logs',
    needsContract: false,
    plan: () => (method, _, params) => (method === 'eth_getLogs' ? dropNewest(params) : undefined),
  },
  {
    name: 'stale heads',
    needsContract: false,
    plan: () => (method) =>
      ['eth_blockNumber', 'eth_getBlockByNumber'].includes(method) ? { kind: 'lag', blocks: LAG_BLOCKS } : undefined,
  },
  {
    name: 'two nodes that disagree',
    needsContract: false,
    plan: (random) => (method, _, params) => (random() < 0.5 ? beBehind(method, params) : undefined),
  },
  {
    name: 'a node that lies in eth_getLogs',
    needsContract: true,
    plan: (random) => (method) => (random() < 0.5 ? lie(method, random) : undefined),
  },
];
