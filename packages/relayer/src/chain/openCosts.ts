import type { CostModel } from '@prism-gateway/node/rpc';
import { findMost, MAJORITY } from '../nodes/askNodes.ts';
import { ChainError } from './chainError.ts';
import type { ChainRpc } from './createChainRpc.ts';
import type { ChainNode } from './openNodes.ts';

type CostNode = Pick<ChainNode, 'name' | 'isSilent' | 'rpc'>;

/** @returns undefined of one that does not answer */
async function askNode({ name, rpc, isSilent }: CostNode, node: number) {
  if (isSilent) return undefined;
  try {
    return { node, name, kind: (await rpc.openCosts()).kind };
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

/**
 * Finds out how a chain charges. Of several nodes two have to say so, or the only one that answers: by the word of one alone what comes beside
 * the gas would be paid for nothing. One that says otherwise is asked only if no other answers.
 *
 * @throws ChainError if none answers, or they do not agree
 * @see docs/specification.md COST-1
 */
export async function openCosts(
  rpc: { readonly pool: Pick<ChainRpc['pool'], 'deprioritize'> } & Pick<ChainRpc, 'openCosts'>,
  nodes: readonly CostNode[],
): Promise<CostModel> {
  if (nodes.length < MAJORITY) return await rpc.openCosts();
  const answers = (await Promise.all(nodes.map(askNode))).filter((one) => one !== undefined);
  const most = findMost(answers, ({ kind }) => kind);
  if (most.length === 0 && answers.length > 0) {
    const each = answers.map(({ name, kind }) => `${name} says ${kind}`).join('; ');
    const message = `The nodes do not agree how the chain charges: ${each}. Take the wrong one out of RPC_URL.`;
    throw new ChainError('RPC_UNAVAILABLE', message);
  }
  for (const { node } of answers.filter((one) => !most.includes(one))) rpc.pool.deprioritize(node);
  const model = await rpc.openCosts();
  if (most[0] === undefined || model.kind === most[0].kind) return model;
  throw new ChainError(
    'RPC_UNAVAILABLE',
    `The node that answers charges as ${model.kind}, and the others as ${most[0].kind}.`,
  );
}
