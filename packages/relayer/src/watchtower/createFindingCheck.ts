import type { RecoverSigner } from '@prism-gateway/node/accounts';
import { parseCount } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { type CallRpc, readBlockTime } from '../chain/createChainRpc.ts';
import { createWalkBack } from '../chain/createWalkBack.ts';
import { findBlockAt } from '../chain/findExecution.ts';
import { createSignatureTest, listSignedParts } from '../checks/findNonce.ts';
import type { SignedRecord } from '../lifecycle/states.ts';
import { MAJORITY } from '../nodes/askNodes.ts';
import { isFalseFailure, type NewestBlock, readNewestBlock } from './evaluateFailure.ts';
import { WINDOW_SECONDS } from './evaluateReleases.ts';
import type { Finding } from './finding.ts';
import type { StoredExecution } from './journal/openSeenChain.ts';
import { readAllExecutions, readExecutionsIn, readForeignEvents } from './readChainUpdate.ts';

/** A finding, and what else a node has to confirm. */
export interface Accusation {
  readonly finding: Finding;
  /** Of what the finding accuses; of `idleRelease` there is no single request. */
  readonly report?: {
    readonly request: SignedRecord;
    /** The transaction that a `success` names. */
    readonly named: Hex | undefined;
    /** How many transactions the holder had sent when it claimed; undefined: not known. */
    readonly claimNonce: number | undefined;
    /** Unix seconds of claim and report, and of the end of the signatures. */
    readonly claimedSeconds: bigint;
    readonly endedSeconds: bigint;
    readonly reportedSeconds: bigint;
    readonly expiresSeconds: bigint;
    /** Whether the queue was watched without a gap since before the claim, so that what was open when is known. */
    readonly isWatched: boolean;
    /** Whether an execution is one of the request. */
    readonly isOf: (execution: StoredExecution) => boolean;
  };
}

/**
 * The nodes' joint verdict on a finding; `otherForwarder`: the named transaction has carried it out, by the Forwarder it was signed for;
 * `replaced`: a reorganisation may have undone the named transaction while nobody looked, and its relayer has sent another one since.
 */
export type Checked = 'confirmed' | 'refuted' | 'unknown' | 'otherForwarder' | 'replaced';

/** Findings that one node alone can refute: what it knows of a relayer's work, it cannot have from nowhere. */
const REFUTED_BY_ONE: ReadonlySet<Finding['kind']> = new Set(['idleClaim', 'idleRelease']);

interface CheckedChain {
  /** Each node by itself. */
  readonly nodes: readonly CallRpc[];
  readonly chainId: number;
  readonly forwarder: Hex;
  readonly recoverSigner: RecoverSigner;
  /** Lists the signatures of a signer's requests that were posted before another one, and that were open until after its report. */
  readonly listOpenBefore: (requestId: string, signer: Hex) => Promise<readonly SignedRecord[]>;
}

type Question = Omit<CheckedChain, 'nodes'> & { readonly node: CallRpc };

/** Whether a node knows a transaction of a relayer that waits for a block, with some of a request's signatures if it shows its pool. */
async function knowsWaiting({ node }: Question, relayer: Hex, request: SignedRecord) {
  const count = (tag: string) =>
    node.read(['eth_getTransactionCount', relayer, tag], (answer) => parseCount(answer, 'count'));
  const [mined, sent, pool] = await Promise.all([
    count('latest'),
    count('pending'),
    // Not every node shows its pool.
    node.read(['txpool_contentFrom', relayer], JSON.stringify).catch((error: unknown) => {
      if (error instanceof ChainError) return undefined;
      throw error;
    }),
  ]);
  if (pool === undefined) return { sent, isWaiting: sent > mined };
  return { sent, isWaiting: listSignedParts(request).some(({ r }) => pool.toLowerCase().includes(r.slice(2))) };
}

/** Whether a relayer has carried out anything in the time in which it gave claims back. */
async function hasWorked({ node, forwarder }: Question, { relayer }: Finding, head: NewestBlock): Promise<boolean> {
  const seconds = head.timestamp - WINDOW_SECONDS;
  const fromBlock = (await findBlockAt({ rpc: node, seconds, fromBlock: 0n, head })) + 1n;
  const source = { rpc: node, forwarder, walkBack: createWalkBack() };
  const found = await readAllExecutions(source, { fromBlock, toBlock: head.number });
  return found.some((execution) => execution.relayer === relayer);
}

/** Whether the named transaction has carried the request out at another contract, for which its signer has signed it. */
async function isOfOtherForwarder(question: Question, { report }: Accusation): Promise<boolean> {
  if (report?.named === undefined) return false;
  const { node, forwarder, chainId, recoverSigner } = question;
  const parts = listSignedParts(report.request);
  for (const { address, signer, nonce } of await readForeignEvents({ rpc: node, forwarder }, report.named)) {
    const part = parts.find((each) => each.signer === signer);
    if (part && (await createSignatureTest({ chainId, forwarder: address, recoverSigner }, part)(nonce))) return true;
  }
  return false;
}

/** Whether a relayer's own transaction has taken the place of the named one, which no block holds any more: its sender offers more then. */
async function isReplaced({ node }: Question, { finding, report }: Accusation, execution: StoredExecution | undefined) {
  if (report?.named === undefined || report.isWatched || execution?.relayer !== finding.relayer) return false;
  return await node.read(['eth_getTransactionReceipt', report.named], (answer) => answer === null);
}

/** Whether what a node shows is what the finding rests on. */
async function askNode(question: Question, accusation: Accusation, head: NewestBlock): Promise<Checked> {
  const { node, forwarder } = question;
  const { finding, report } = accusation;
  const word = (isSo: boolean) => (isSo ? 'confirmed' : 'refuted');
  if (report === undefined) return word(!(await hasWorked(question, finding, head)));
  const { request, named, claimNonce, isOf } = report;
  const findExecution = async (txHash: Hex) => (await readExecutionsIn({ rpc: node, forwarder }, txHash)).find(isOf);
  const execution = finding.txHash === undefined ? undefined : await findExecution(finding.txHash);
  if (finding.txHash !== undefined && execution === undefined) return 'refuted';
  if (finding.kind === 'falseSuccess' || finding.kind === 'wrongTransaction') {
    if (named !== undefined && (await findExecution(named)) !== undefined) return 'refuted';
    if (await isReplaced(question, accusation, execution)) return 'replaced';
    // What a reorganisation may have undone while nobody looked waits for its block again.
    const isUnseen = execution === undefined && !report.isWatched;
    if (isUnseen && (await knowsWaiting(question, finding.relayer, request)).isWaiting) return 'unknown';
    return (await isOfOtherForwarder(question, accusation)) ? 'otherForwarder' : 'confirmed';
  }
  if (finding.kind === 'falseFailure') {
    const { relayer, txHash } = finding;
    const minedSeconds = execution && (await readBlockTime(node, execution.block));
    if (minedSeconds !== undefined && minedSeconds < report.reportedSeconds) return 'confirmed';
    const listOpenBefore = async (signer: Hex) =>
      report.isWatched ? await question.listOpenBefore(finding.requestId, signer) : [];
    const failure = { ...report, relayer, executedIn: txHash, listOpenBefore };
    return word(await isFalseFailure({ ...question, rpc: node }, failure, head));
  }
  if (finding.kind !== 'idleClaim') return 'confirmed';
  const { sent, isWaiting } = await knowsWaiting(question, finding.relayer, request);
  return word(!isWaiting && (claimNonce === undefined || sent <= claimNonce));
}

/** @returns `unknown` if a node does not answer, or is not as far as the look that has found it */
async function askOne(question: Question, accusation: Accusation): Promise<Checked> {
  try {
    const head = await readNewestBlock(question.node);
    return head.number < accusation.finding.block ? 'unknown' : await askNode(question, accusation, head);
  } catch (error) {
    if (error instanceof ChainError) return 'unknown';
    throw error;
  }
}

/** Whether enough nodes confirm a finding. A node that lies, or is behind, has nobody accused. */
export type CheckFinding = (accusation: Accusation) => Promise<Checked>;

/**
 * Makes the question whether nodes agree on what a finding rests on: two have to, and more than say otherwise; of what shows that a
 * relayer works, one is enough. With one node there is nobody else to ask.
 *
 * @see docs/specification.md WATCH-3
 */
export function createFindingCheck({ nodes, ...chain }: CheckedChain): CheckFinding {
  const majority = Math.min(MAJORITY, nodes.length);
  return async function checkFinding(accusation) {
    const listed = new Map<Hex, Promise<readonly SignedRecord[]>>();
    // The gateway is asked once, whatever number of nodes need the answer.
    function listOpenBefore(requestId: string, signer: Hex): Promise<readonly SignedRecord[]> {
      const known = listed.get(signer) ?? chain.listOpenBefore(requestId, signer);
      listed.set(signer, known);
      return known;
    }
    const words = await Promise.all(nodes.map((node) => askOne({ ...chain, listOpenBefore, node }, accusation)));
    const count = (word: Checked) => words.filter((each) => each === word).length;
    // A signature for another contract is nothing that a node can make up.
    if (count('otherForwarder') > 0) return 'otherForwarder';
    const [agree, replaced] = [count('confirmed'), count('replaced')];
    const differ = count('refuted') + replaced;
    if (differ > 0 && REFUTED_BY_ONE.has(accusation.finding.kind)) return 'refuted';
    if (agree >= majority && agree > differ) return 'confirmed';
    if (replaced >= majority && replaced > agree) return 'replaced';
    return differ >= majority ? 'refuted' : 'unknown';
  };
}
