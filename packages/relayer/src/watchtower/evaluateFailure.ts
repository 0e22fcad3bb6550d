import { encodeForwarderCall } from '@prism-gateway/contracts';
import { parseArray, parseCount, parseQuantity, parseRecord } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { readNonceAt } from '../chain/chainReader.ts';
import type { CallRpc, ReadRpc } from '../chain/createChainRpc.ts';
import { nameReason } from '../chain/decodeReason.ts';
import { findBlockAt } from '../chain/findExecution.ts';
import { readBatchResults } from '../checks/fee.ts';
import { createSignatureTest, findNonce, listSignedParts, type NonceContext } from '../checks/findNonce.ts';
import type { NonceGap } from '../checks/leaveReasons.ts';
import type { SignedRecord } from '../lifecycle/states.ts';

/** How old what an honest relayer sees of the chain may be, in seconds: its `MAX_HEAD_AGE_SECONDS`. */
export const VIEW_AGE_SECONDS = 60n;
/** So close to its end a request may be reported as expired by a clock that is fast, in seconds. */
const EXPIRY_MARGIN_SECONDS = 120n;
/** Most blocks that are simulated, evenly spread. */
const MAX_BLOCKS = 32;
/** Most blocks that are looked through for a transaction of the relayer's. */
const MAX_SEARCHED = 64;
/** Most gas of a transaction. @see https://eips.ethereum.org/EIPS/eip-7825 */
const MOST_GAS = numberToHex(16_777_216n);

/** A request that was reported `failed`, and that nothing on the chain had carried out before. */
export interface ReportedFailure {
  readonly request: SignedRecord;
  /** Who reported it, in lower case. */
  readonly relayer: Hex;
  /** Unix seconds of claim and report, and of the end of the signatures. */
  readonly claimedSeconds: bigint;
  readonly endedSeconds: bigint;
  readonly expiresSeconds: bigint;
  /** The transaction of the relayer's that has carried it out after all. */
  readonly executedIn?: Hex | undefined;
  /** Lists a signer's requests that were posted before it, and that were open until after the report. */
  readonly listOpenBefore: (signer: Hex) => Promise<readonly SignedRecord[]>;
}

/** A node's newest block. */
export interface NewestBlock {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/** @throws ChainError */
export async function readNewestBlock(rpc: ReadRpc): Promise<NewestBlock> {
  return await rpc.read(['eth_getBlockByNumber', 'latest', false], (answer) => {
    const { number, timestamp } = parseRecord(answer, 'block');
    return { number: parseQuantity(number, 'block number'), timestamp: parseQuantity(timestamp, 'block time') };
  });
}

interface Node extends NonceContext {
  readonly rpc: CallRpc;
}

/** How a request would have ended in the block after another one. */
async function simulateAfter({ rpc, forwarder }: Node, { request, relayer }: ReportedFailure, block: bigint) {
  const { data } = encodeForwarderCall(request);
  const call = { from: relayer, to: forwarder, data, gas: MOST_GAS };
  const answer = await rpc.attempt(['eth_call', call, numberToHex(block)]);
  if ('reverted' in answer) return nameReason(answer.reverted) === 'RequestNotYetOpen' ? 'early' : 'fails';
  if (request.action !== 'BATCH_MULTI_USER_WRITE_DATA') return 'succeeds';
  const results = readBatchResults(answer.returned, listSignedParts(request).length);
  return results.every(({ success }) => success) ? 'succeeds' : 'fails';
}

/**
 * The forwarder nonce that a request waited for, after a block.
 *
 * @returns undefined if it was in its turn; `unknown` if its signatures' nonces are not found
 */
async function findGap(node: Node, request: SignedRecord, block: bigint): Promise<NonceGap | 'unknown' | undefined> {
  const next = new Map<Hex, bigint>();
  for (const part of listSignedParts(request)) {
    const { signer } = part;
    const current = next.get(signer) ?? (await readNonceAt(node, { signer, block }));
    const nonce = await findNonce({ ...node, part, current });
    if (nonce === undefined) return 'unknown';
    if (nonce > current) return { signer, nonce: current };
    next.set(signer, nonce === current ? current + 1n : current);
  }
  return undefined;
}

/** Whether a request, in its turn after a block, was signed for a nonce that another one waited for. */
async function isHolder(node: Node, request: SignedRecord, { signer, nonce, block }: NonceGap & { block: bigint }) {
  const own = listSignedParts(request).filter((part) => part.signer === signer);
  const isSigned = await Promise.all(own.map((part) => createSignatureTest(node, part)(nonce)));
  return isSigned.includes(true) && (await findGap(node, request, block)) === undefined;
}

/**
 * Whether a request waited for an earlier forwarder nonce of its signer, which an open request in its turn had all the time: then whoever is
 * honest waits on, whatever the request would do in its turn.
 *
 * @param range - the block as old as the oldest view of the chain before the claim, and the one after the report
 */
async function wasAwaited(
  node: Node,
  { request, listOpenBefore }: ReportedFailure,
  range: { readonly from: () => Promise<bigint>; readonly to: bigint },
): Promise<boolean> {
  const gap = await findGap(node, request, range.to);
  if (gap === undefined || gap === 'unknown') return false;
  const { signer, nonce } = gap;
  for (const earlier of await listOpenBefore(signer))
    if (await isHolder(node, earlier, { ...gap, block: range.to }))
      return (await readNonceAt(node, { signer, block: await range.from() })) === nonce;
  return false;
}

/** Whether any signer has code, which can see whose transaction it is in: it could make a relayer look like a liar. */
async function hasContractSigner({ rpc }: Node, { request }: ReportedFailure): Promise<boolean> {
  const codes = listSignedParts(request).map(({ signer }) => rpc.read(['eth_getCode', signer, 'latest'], String));
  return (await Promise.all(codes)).some((code) => code !== '0x');
}

/** Blocks of a range in which a relayer's transactions were mined. @returns undefined if there are too many */
async function findOwnBlocks(
  { rpc }: Node,
  { relayer }: ReportedFailure,
  range: { from: bigint; to: bigint },
): Promise<readonly bigint[] | undefined> {
  const countAt = (block: bigint) =>
    rpc.read(['eth_getTransactionCount', relayer, numberToHex(block)], (answer) => parseCount(answer, 'count'));
  const found: bigint[] = [];
  async function search(from: { block: bigint; count: number }, to: { block: bigint; count: number }): Promise<void> {
    if (from.count === to.count || found.length > MAX_SEARCHED) return;
    if (to.block - from.block === 1n) return void found.push(to.block);
    const block = (from.block + to.block) / 2n;
    const middle = { block, count: await countAt(block) };
    await search(from, middle);
    await search(middle, to);
  }
  const [first, last] = [await countAt(range.from), await countAt(range.to)];
  await search({ block: range.from, count: first }, { block: range.to, count: last });
  return found.length > MAX_SEARCHED ? undefined : found;
}

/** Whether a relayer has tried: a transaction with the very signature was mined, and was in vain. */
async function hasTried(node: Node, failure: ReportedFailure, range: { from: bigint; to: bigint }): Promise<boolean> {
  const blocks = await findOwnBlocks(node, failure, range);
  if (blocks === undefined) return true;
  const marks = listSignedParts(failure.request).map(({ r }) => r.slice(2));
  for (const block of blocks) {
    const inputs = await node.rpc.read(['eth_getBlockByNumber', numberToHex(block), true], (answer) =>
      parseArray(parseRecord(answer, 'block').transactions, 'transactions')
        .map((each) => parseRecord(each, 'transaction'))
        .filter(({ from, hash }) => String(from).toLowerCase() === failure.relayer && hash !== failure.executedIn)
        .map(({ input }) => String(input).toLowerCase()),
    );
    if (inputs.some((input) => marks.some((mark) => input.includes(mark)))) return true;
  }
  return false;
}

/** Blocks from one to another, both included, at most `MAX_BLOCKS`. */
function spread(from: bigint, to: bigint): readonly bigint[] {
  const length = Number(to - from) + 1;
  const count = Math.min(length, MAX_BLOCKS);
  const step = count === 1 ? 0 : (length - 1) / (count - 1);
  return [...new Set(Array.from({ length: count }, (_, index) => from + BigInt(Math.round(index * step))))];
}

/**
 * Evaluates by one node whether a `failed` is a lie: the request would have been carried out after every block that an honest relayer can
 * have seen from its claim to its report, or waited all that time for an earlier one that was open and in its turn; and the relayer has not tried. Nobody
 * is accused for what its signer's code decides, for what was about to expire, or for what failed when somebody's view was a minute old.
 *
 * @returns whether it is a lie, as far as this node knows
 * @throws ChainError if the node does not answer, or has forgotten the past
 * @see docs/specification.md WATCH-7
 */
export async function isFalseFailure(node: Node, failure: ReportedFailure, head: NewestBlock): Promise<boolean> {
  const { claimedSeconds, endedSeconds, expiresSeconds } = failure;
  if (endedSeconds + EXPIRY_MARGIN_SECONDS >= expiresSeconds) return false;
  const blockAt = async (seconds: bigint) => {
    const block = await findBlockAt({ rpc: node.rpc, seconds, fromBlock: 0n, head });
    return block < 0n ? 0n : block;
  };
  const reported = await blockAt(endedSeconds);
  const to = reported < head.number ? reported + 1n : reported;
  const readFrom = () => blockAt(claimedSeconds - VIEW_AGE_SECONDS);
  if ((await simulateAfter(node, failure, to)) !== 'succeeds') {
    // Nearly every honest report ends here.
    if (!(await wasAwaited(node, failure, { from: readFrom, to }))) return false;
  } else {
    const claimed = await blockAt(claimedSeconds);
    for (const block of new Set([claimed, ...spread(await readFrom(), to)])) {
      const outcome = await simulateAfter(node, failure, block);
      // Nobody reports failed what is not open yet.
      if (outcome === 'fails' || (outcome === 'early' && block >= claimed)) return false;
    }
  }
  if (await hasContractSigner(node, failure)) return false;
  // The first block after the claim may be of the same second.
  return !(await hasTried(node, failure, { from: await blockAt(claimedSeconds - 1n), to }));
}
