import { deepEnoughAt, parseQuantity } from '@prism-gateway/node/rpc';
import { parseReceipt, type Receipt } from '@prism-gateway/sender';
import type { RelayerContext, RelayNode } from '../lifecycle/context.ts';
import { askNodes, MAJORITY } from './askNodes.ts';

/** The nodes' joint verdict on a mined transaction. */
export type ReceiptVerdict =
  /** It is mined, as this receipt has it: maybe not as the one node has said that was asked first. */
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** It is not mined: that node has made its receipt up. */
  | { readonly kind: 'none' }
  /** They do not agree yet. */
  | { readonly kind: 'undecided' };

/** How long a node's newest block stays the same before the node counts as stuck and is not waited for, in milliseconds. */
const STUCK_MS = 60_000;

/**
 * Makes the watch over a node's newest block.
 *
 * @param monotonicNow - milliseconds of a clock that is never set
 * @returns whether it has got stuck
 */
export function watchHead(monotonicNow: () => number): (head: bigint) => boolean {
  let seen: { readonly head: bigint; readonly atMs: number } | undefined;
  return function isStuck(head) {
    if (seen?.head !== head) seen = { head, atMs: monotonicNow() };
    return monotonicNow() - seen.atMs >= STUCK_MS;
  };
}

/** A receipt; that there is none; or its newest block, if those that finalize the transaction are not there yet. */
type Vote = Receipt | 'none' | { readonly head: bigint };

/** @returns undefined if the node has got stuck before */
async function askNode(
  { chain, policy }: RelayerContext,
  { rpc, isStuck }: RelayNode,
  { txHash: hash, blockNumber }: Receipt,
): Promise<Vote | undefined> {
  const [head, receipt] = await Promise.all([
    rpc.read(['eth_blockNumber'], (answer) => parseQuantity(answer, 'block number')),
    rpc.read(['eth_getTransactionReceipt', hash], (answer) => parseReceipt(answer, { hash, from: chain.relayer })),
  ]);
  if (head < deepEnoughAt(blockNumber, policy.confirmations)) return isStuck(head) ? undefined : { head };
  return receipt ?? 'none';
}

/** All of a receipt that something follows from, as a text: what it cost, and what its events say. */
function describe(vote: Vote): string {
  if (vote === 'none') return vote;
  if ('head' in vote) return 'not deep';
  const { blockHash, status, gasUsed, effectiveGasPrice, dataFee } = vote;
  const logs = vote.logs.map(({ address, topics, data }) => [address.toLowerCase(), topics, data]);
  return JSON.stringify([blockHash, status, ...[gasUsed, effectiveGasPrice, dataFee].map(String), logs]);
}

function says(vote: Vote): string {
  if (vote === 'none') return 'that it is not mined';
  if ('head' in vote) return `that its newest block is ${vote.head}`;
  const { blockNumber, blockHash, status } = vote;
  return `that it is mined in block ${blockNumber} (${blockHash.slice(0, 10)}…, ${status})`;
}

/** A newest block may be made up, and so is the depth then; that there is no receipt yet may be a moment's lag. */
function decides(vote: Vote, nodes: number): boolean {
  if (vote === 'none') return nodes >= MAJORITY;
  return !('head' in vote);
}

/** Whether a node shows a receipt that the others do not have. That it has none yet may be a moment's lag. */
function isForged(vote: Vote, agreed: Vote): boolean {
  return vote !== 'none' && !('head' in vote) && describe(vote) !== describe(agreed);
}

/**
 * Asks what nodes say together of a transaction that one of them says is mined: the receipt that two have, more than have any other, counts,
 * with its status, cost and events. If only one of them answers, it is believed; if there is only one, it is not asked again. While they do
 * not agree, nothing ends, and the health says so. A node without an answer says nothing.
 *
 * @see docs/specification.md RELAY-20
 */
export async function confirmReceipt(context: RelayerContext, sent: Receipt): Promise<ReceiptVerdict> {
  const { chain, events } = context;
  if (chain.nodes.length < MAJORITY) return { kind: 'mined', receipt: sent };
  const { txHash } = sent;
  const { agreed, votes } = await askNodes(chain.nodes, {
    ask: (node) => askNode(context, node, sent),
    subject: `transaction ${txHash}`,
    ...{ describe, says, decides, events },
  });
  // One that is behind decides nothing.
  if (agreed === undefined || (agreed !== 'none' && 'head' in agreed)) return { kind: 'undecided' };
  for (const { node, vote } of votes) {
    if (!isForged(vote, agreed)) continue;
    const place = chain.nodes.indexOf(node);
    events.emit({ type: 'node-outlier', node: place, subject: 'a receipt', says: `${says(vote)} of ${txHash}` });
  }
  return agreed === 'none' ? { kind: 'none' } : { kind: 'mined', receipt: agreed };
}
