import { parseCount, parseQuantity } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import type { Finding } from './finding.ts';
import type { StoredExecution } from './journal/openSeenChain.ts';
import { readTold } from './readChainNews.ts';

/** A finding, and what else a node has to bear out. */
export interface Accusation {
  readonly finding: Finding;
  /** The transaction that a `success` names. */
  readonly named: Hex | undefined;
  /** How many transactions the holder had sent when it claimed; undefined: not known. */
  readonly claimNonce: number | undefined;
  /** Whether an execution is one of the request. */
  readonly isOf: (execution: StoredExecution) => boolean;
}

/** So many nodes have to say so before a relayer is accused. */
const MAJORITY = 2;

type Node = Pick<ChainRpc, 'read'>;

/** Whether what a node shows is what the finding rests on. */
async function isBorneOut(node: Node, forwarder: Hex, accusation: Accusation): Promise<boolean> {
  const { finding, named, claimNonce, isOf } = accusation;
  const hasExecuted = async (txHash: Hex) => (await readTold({ rpc: node, forwarder }, txHash)).some(isOf);
  if (finding.txHash !== undefined && !(await hasExecuted(finding.txHash))) return false;
  const rests = finding.kind === 'falseSuccess' || finding.kind === 'wrongTransaction';
  if (rests && named !== undefined && (await hasExecuted(named))) return false;
  if (finding.kind !== 'idleClaim' || claimNonce === undefined) return true;
  const call = ['eth_getTransactionCount', finding.relayer, 'pending'] as const;
  return (await node.read(call, (answer) => parseCount(answer, 'count'))) <= claimNonce;
}

/** @returns undefined where a node does not answer, or is not as far as the look that has found it */
async function askWitness(node: Node, forwarder: Hex, accusation: Accusation): Promise<boolean | undefined> {
  try {
    const head = await node.read(['eth_blockNumber'], (answer) => parseQuantity(answer, 'block number'));
    return head < accusation.finding.block ? undefined : await isBorneOut(node, forwarder, accusation);
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

/** Tells whether enough nodes bear a finding out. A node that lies, or is behind, has nobody accused. */
export type CheckFinding = (accusation: Accusation) => Promise<boolean>;

/**
 * Makes the question whether nodes agree on what a finding rests on: two have to, and more than say otherwise. With one node there is
 * nobody to ask.
 *
 * @param chain.witnesses - each node by itself, the one that the finding was made from among them
 * @see docs/specification.md WATCH-3
 */
export function createFindingCheck(chain: {
  readonly witnesses: readonly Node[];
  readonly forwarder: Hex;
}): CheckFinding {
  const { witnesses, forwarder } = chain;
  return async function checkFinding(accusation) {
    if (witnesses.length < MAJORITY) return true;
    const words = await Promise.all(witnesses.map((node) => askWitness(node, forwarder, accusation)));
    const agree = words.filter((word) => word === true).length;
    const differ = words.filter((word) => word === false).length;
    return agree >= MAJORITY && agree > differ;
  };
}
