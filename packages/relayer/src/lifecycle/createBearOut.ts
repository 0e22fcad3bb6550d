import { parseQuantity } from '@prism-gateway/rpc';
import { parseReceipt, type Receipt } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import type { Health } from './createHealth.ts';

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

/** So many nodes have to agree. */
const MAJORITY = 2;
/** How long nodes may say different things before the operator is told, in milliseconds: blocks take a moment from one to the other. */
const DISPUTE_MS = 10_000;
const NOT_MINED = 'not mined';
/** Of a node that does not have the blocks yet that settle the transaction. */
const NOT_DEEP = 'not deep';
/** A node whose newest block stays the same for so long has got stuck: it is not waited for, in milliseconds. */
const STUCK_MS = 60_000;

/** What nodes were asked for, and by whom it was sent. */
interface Question {
  readonly hash: Hex;
  /** The block that settles it. */
  readonly deepAt: bigint;
  readonly from: Hex;
}

/** A node, and whether it has got stuck. */
interface BearWitness {
  readonly rpc: Pick<ChainRpc, 'read'>;
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

/** @returns undefined where the node does not answer, or has got stuck before */
async function askWitness(
  { rpc, isStuck }: BearWitness,
  { hash, deepAt, from }: Question,
): Promise<Receipt | typeof NOT_MINED | typeof NOT_DEEP | undefined> {
  try {
    const head = await rpc.read(['eth_blockNumber'], (answer) => parseQuantity(answer, 'block number'));
    if (head < deepAt) return isStuck(head) ? undefined : NOT_DEEP;
    const read = (answer: unknown) => parseReceipt(answer, { hash, from }) ?? NOT_MINED;
    return await rpc.read(['eth_getTransactionReceipt', hash], read);
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

/** All of a receipt that something follows from, as a text: what it cost, and what its events say. */
function describe(said: Said[number]): string {
  if (typeof said === 'string') return said;
  const { blockHash, status, gasUsed, effectiveGasPrice, dataFee } = said;
  const logs = said.logs.map(({ address, topics, data }) => [address.toLowerCase(), topics, data]);
  return JSON.stringify([blockHash, status, ...[gasUsed, effectiveGasPrice, dataFee].map(String), logs]);
}

type Said = readonly (Receipt | typeof NOT_MINED | typeof NOT_DEEP)[];

/** What most say, which must be two, or all that answer if they say it is mined: a newest block may be made up, and so is the depth then. */
function weigh(said: Said): Word {
  const groups = [...Map.groupBy(said, describe).values()].toSorted((one, other) => other.length - one.length);
  const [most = [], next = []] = groups;
  const [first] = most;
  if (first === undefined || most.length === next.length) return { kind: 'unsettled' };
  if (first === NOT_DEEP) return { kind: 'unsettled' };
  if (first === NOT_MINED) return most.length >= MAJORITY ? { kind: 'none' } : { kind: 'unsettled' };
  return most.length >= MAJORITY || groups.length === 1 ? { kind: 'mined', receipt: first } : { kind: 'unsettled' };
}

/** Asks all; a silent one is not waited for once more than half of them say the same. */
async function askAll(witnesses: readonly BearWitness[], question: Question): Promise<Said> {
  const { promise, resolve, reject } = Promise.withResolvers<Said>();
  const said: Said[number][] = [];
  const asked = witnesses.map(async (witness) => {
    const word = await askWitness(witness, question);
    if (word === undefined) return;
    said.push(word);
    const same = said.filter((other) => describe(other) === describe(word)).length;
    if (same >= MAJORITY && 2 * same > witnesses.length) resolve([...said]);
  });
  Promise.all(asked).then(() => resolve(said), reject);
  return await promise;
}

/** Tells the operator of transactions that nodes say different things of, for as long as they do. */
function createDisputes({
  health,
  now,
}: {
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
  now: () => number;
}) {
  const sinceMs = new Map<Hex, number>();
  return function note(hash: Hex, isDisputed: boolean): void {
    if (isDisputed) sinceMs.set(hash, sinceMs.get(hash) ?? now());
    else sinceMs.delete(hash);
    const [old] = [...sinceMs].filter(([, atMs]) => now() - atMs >= DISPUTE_MS);
    const advice = 'one of RPC_URL lies or is on a branch of its own: take it out, or name three';
    if (old === undefined) health.noteWell('nodes');
    else health.noteFailure('nodes', `they say different things of transaction ${old[0]}; ${advice}`);
  };
}

/**
 * Makes the question what nodes say together of a transaction that one of them says is mined: the receipt that two have, more than have
 * any other, counts, with its status, cost and events. Where only one of them answers, it is believed; where there is only one, it is not
 * asked again. While they do not agree, nothing ends, and the health says so.
 *
 * @param options.witnesses - each node by itself, the one that has said so among them
 * @param options.from - the relayer's address, in lower case
 * @param options.confirmations - blocks that settle a transaction, the including one counted: those who agree have to know them
 * @param options.now - Unix time in milliseconds
 * @see docs/specification.md RELAY-20
 */
export function createBearOut(options: {
  readonly witnesses: readonly Pick<ChainRpc, 'read'>[];
  readonly from: Hex;
  readonly confirmations: number;
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
  readonly now: () => number;
}): BearOut {
  const { from, confirmations, now } = options;
  const witnesses = options.witnesses.map((rpc) => ({ rpc, isStuck: watchHead(now) }));
  const noteDispute = createDisputes(options);
  return async function bearOut(sent) {
    if (witnesses.length < MAJORITY) return { kind: 'mined', receipt: sent };
    const { txHash: hash, blockNumber } = sent;
    const said = await askAll(witnesses, { hash, deepAt: blockNumber + BigInt(confirmations) - 1n, from });
    const word = weigh(said);
    noteDispute(hash, word.kind === 'unsettled' && new Set(said.map(describe)).size > 1);
    return word;
  };
}
