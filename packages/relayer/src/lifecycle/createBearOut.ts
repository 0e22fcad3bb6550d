import { parseQuantity } from '@prism-gateway/rpc';
import { parseReceipt, type Receipt } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import { createPatience, type Patience } from '../chain/createPatience.ts';
import type { NoteAlone, NoteDispute, Statement } from './createNodeNotes.ts';
import { findMost, gatherVotes, MAJORITY } from './gatherVotes.ts';

/** What nodes say together of a mined transaction. */
export type Word =
  /** It is mined, as this receipt has it: maybe not as the one node has said that was asked first. */
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** It is not mined: that node has made its receipt up. */
  | { readonly kind: 'none' }
  /** They do not agree yet. */
  | { readonly kind: 'unsettled' };

/** Asks what nodes say together of a transaction that one of them says is mined. It throws nothing: a node without an answer says nothing. */
export type BearOut = (sent: Receipt) => Promise<Word>;

/** A node whose newest block stays the same for so long has got stuck: it is not waited for, in milliseconds. */
const STUCK_MS = 60_000;

/** What nodes were asked for, and by whom it was sent. */
interface Question {
  readonly hash: Hex;
  /** The block that settles it. */
  readonly deepAt: bigint;
  readonly from: Hex;
}

/** A node by itself, and what it is called. */
export interface Witness {
  readonly name: string;
  readonly rpc: Pick<ChainRpc, 'read'>;
  /** It did not answer when it was asked first. */
  readonly isSilent?: boolean;
}

/** A node, how long it is waited for, and whether it has got stuck. */
interface BearWitness extends Witness {
  readonly wait: Patience;
  readonly isStuck: (head: bigint) => boolean;
}

/** Watches whether a node's newest block changes. */
function watchHead(now: () => number): BearWitness['isStuck'] {
  let seen: { readonly head: bigint; readonly atMs: number } | undefined;
  return function isStuck(head) {
    if (seen?.head !== head) seen = { head, atMs: now() };
    return now() - seen.atMs >= STUCK_MS;
  };
}

/** A receipt; that there is none; or its newest block, where those that settle the transaction are not there yet. */
type Told = Receipt | 'none' | { readonly head: bigint };
/** What each node says that answers. */
type Said = readonly { readonly name: string; readonly told: Told }[];

/** @returns undefined where the node does not answer, or has got stuck before */
async function askNode({ rpc, isStuck }: BearWitness, { hash, deepAt, from }: Question): Promise<Told | undefined> {
  try {
    const head = await rpc.read(['eth_blockNumber'], (answer) => parseQuantity(answer, 'block number'));
    if (head < deepAt) return isStuck(head) ? undefined : { head };
    const read = (answer: unknown) => parseReceipt(answer, { hash, from }) ?? 'none';
    return await rpc.read(['eth_getTransactionReceipt', hash], read);
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

/** All of a receipt that something follows from, as a text: what it cost, and what its events say. */
function describe({ told }: Said[number]): string {
  if (told === 'none') return told;
  if ('head' in told) return 'not deep';
  const { blockHash, status, gasUsed, effectiveGasPrice, dataFee } = told;
  const logs = told.logs.map(({ address, topics, data }) => [address.toLowerCase(), topics, data]);
  return JSON.stringify([blockHash, status, ...[gasUsed, effectiveGasPrice, dataFee].map(String), logs]);
}

/** What a node says, for the operator. */
function state({ name, told }: Said[number]): Statement {
  if (told === 'none') return { name, says: 'that it is not mined' };
  if ('head' in told) return { name, says: `that its newest block is ${told.head}` };
  const { blockNumber, blockHash, status } = told;
  return { name, says: `that it is mined in block ${blockNumber} (${blockHash.slice(0, 10)}…, ${status})` };
}

/** What most say, which must be two, or all that answer if they say it is mined: a newest block may be made up, and so is the depth then. */
function weigh(said: Said): Word {
  const most = findMost(said, describe);
  const first = most[0]?.told;
  if (first === undefined || (typeof first === 'object' && 'head' in first)) return { kind: 'unsettled' };
  const isBorneOut = most.length >= MAJORITY;
  if (first === 'none') return isBorneOut ? { kind: 'none' } : { kind: 'unsettled' };
  return isBorneOut || most.length === said.length ? { kind: 'mined', receipt: first } : { kind: 'unsettled' };
}

/** Whether a node shows a receipt that the others do not have. That it has none yet may be a moment's lag. */
function hasMadeUp({ name, told }: Said[number], word: Word): boolean {
  if (word.kind === 'unsettled' || told === 'none' || 'head' in told) return false;
  return word.kind === 'none' || describe({ name, told }) !== describe({ name, told: word.receipt });
}

/**
 * Makes the question what nodes say together of a transaction that one of them says is mined: the receipt that two have, more than have
 * any other, counts, with its status, cost and events. Where only one of them answers, it is believed; where there is only one, it is not
 * asked again. While they do not agree, nothing ends, and the health says so.
 *
 * @param options.witnesses - each node by itself, the one that has said so among them
 * @param options.from - the relayer's address, in lower case
 * @param options.confirmations - blocks that settle a transaction, the including one counted: those who agree have to know them
 * @see docs/specification.md RELAY-20
 */
export function createBearOut(options: {
  readonly witnesses: readonly Witness[];
  readonly from: Hex;
  readonly confirmations: number;
  readonly noteDispute: NoteDispute;
  readonly noteAlone: NoteAlone;
  readonly now: () => number;
}): BearOut {
  const { from, confirmations, noteDispute, noteAlone, now } = options;
  const witnesses = options.witnesses.map((node) => ({
    ...node,
    wait: createPatience(node.isSilent),
    isStuck: watchHead(now),
  }));
  return async function bearOut(sent) {
    if (witnesses.length < MAJORITY) return { kind: 'mined', receipt: sent };
    const { txHash: hash, blockNumber } = sent;
    const question = { hash, deepAt: blockNumber + BigInt(confirmations) - 1n, from };
    const said = await gatherVotes(witnesses, {
      async ask(witness) {
        const told = await witness.wait(askNode(witness, question));
        return told && { name: witness.name, told };
      },
      describe,
    });
    const word = weigh(said);
    const isDisputed = word.kind === 'unsettled' && new Set(said.map(describe)).size > 1;
    noteDispute(`transaction ${hash}`, isDisputed ? said.map(state) : []);
    for (const one of said) {
      if (!hasMadeUp(one, word)) continue;
      const place = witnesses.findIndex(({ name }) => name === one.name);
      noteAlone(place, { subject: 'a receipt', says: `${state(one).says} of ${hash}` });
    }
    return word;
  };
}
