import { type Address, type Hash, type Hex, numberToHex, type PublicClient, pad } from 'viem';
import type { Place } from '../journal/createMarkTable.ts';
import { type ChainLook, NodeBehindError } from './createChainView.ts';
import { createLogFinder } from './createLogFinder.ts';
import { TRANSFER_TOPIC } from './marks.ts';

/** JSON-RPC's codes for a method that a node does not have, or does not offer. */
const NO_METHOD = [-32_601, -32_004];

interface RawLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly transactionHash: Hash;
  readonly blockHash: Hash;
  readonly blockNumber: Hex;
  readonly transactionIndex: Hex;
}

/** Which relayers are searched for over which blocks, in one query. */
export interface LogQuery {
  readonly relayers: readonly Address[];
  readonly fromBlock: number;
  readonly toBlock: number;
}

function codeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'number') return at.code;
  return undefined;
}

/**
 * Creates what asks a node for transfers of a token out of relayers, and compares the answers with the headers of the blocks.
 *
 * @param options - the node, the token and the relayers
 * @returns a function that gives where such transactions stand
 * @throws NodeBehindError where logs and headers do not agree; viem's errors
 * @see docs/payments.md, "The search"
 */
export function createLogReader(options: {
  readonly client: PublicClient;
  readonly creditToken: Address;
  readonly relayers: readonly Address[];
}) {
  const { client, creditToken } = options;
  /** Blocks whose filter speaks of a log that is none, by hash. */
  const cleared = new Set<Hash>();

  /** Whether a block may have a transfer out of a relayer, by its filter. */
  const findersOf = new Map(
    options.relayers.map((relayer) => [
      relayer.toLowerCase(),
      createLogFinder([creditToken, TRANSFER_TOPIC, pad(relayer, { size: 32 })]),
    ]),
  );

  const filterOf = (relayers: readonly Address[]) => ({
    address: creditToken,
    topics: [TRANSFER_TOPIC, relayers.map((relayer) => pad(relayer, { size: 32 }))],
  });

  async function readLogs(filter: object): Promise<readonly RawLog[]> {
    // viem's own action takes one event of one ABI; the answer is that of the JSON-RPC method.
    return (await client.request({ method: 'eth_getLogs', params: [filter] } as never)) as readonly RawLog[];
  }

  /** Whether a block has a transfer out of a relayer, by its receipts. */
  async function hasTransfer(hash: Hash, relayers: readonly Address[]): Promise<boolean> {
    if ((await readLogs({ ...filterOf(relayers), blockHash: hash })).length > 0) return true;
    try {
      const receipts = (await client.request({ method: 'eth_getBlockReceipts', params: [hash] } as never)) as
        | readonly { readonly logs: readonly RawLog[] }[]
        | null;
      if (receipts === null) return true;
      const senders = relayers.map((relayer) => pad(relayer, { size: 32 }).toLowerCase());
      return receipts
        .flatMap(({ logs }) => logs)
        .some(
          ({ address, topics: [topic, from] }) =>
            topic === TRANSFER_TOPIC &&
            senders.includes((from ?? '').toLowerCase()) &&
            address.toLowerCase() === creditToken.toLowerCase(),
        );
    } catch (error) {
      // A node without the method: its word for the single block must do.
      if (NO_METHOD.includes(Number(codeOf(error)))) return false;
      throw error;
    }
  }

  /** @throws NodeBehindError where a block's filter speaks of a log, the block has it, and the answer does not */
  async function checkFilters({ relayers, fromBlock, toBlock }: LogQuery, found: ReadonlySet<string>, look: ChainLook) {
    const current = new Set([...look.headers.values()].map(({ hash }) => hash));
    for (const hash of cleared) if (!current.has(hash)) cleared.delete(hash);
    for (const { number, hash, logsBloom } of look.headers.values()) {
      if (number < fromBlock || number > toBlock || found.has(hash) || cleared.has(hash)) continue;
      const isSuspect = relayers.some((relayer) => findersOf.get(relayer)?.(logsBloom));
      if (!isSuspect) continue;
      if (await hasTransfer(hash, relayers)) throw new NodeBehindError(`its logs lack those of block ${number}`);
      cleared.add(hash);
    }
  }

  return async (query: LogQuery, look: ChainLook): Promise<readonly Place[]> => {
    const { relayers, fromBlock, toBlock } = query;
    const range = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
    const logs = await readLogs({ ...filterOf(relayers), ...range });
    for (const { blockNumber, blockHash } of logs) {
      const header = look.headers.get(Number(blockNumber));
      if (Number(blockNumber) > toBlock) throw new NodeBehindError(`it gives logs beyond block ${toBlock}`);
      if (header !== undefined && header.hash !== blockHash)
        throw new NodeBehindError(`its logs are of another block ${header.number} than its headers`);
    }
    await checkFilters(query, new Set(logs.map(({ blockHash }) => blockHash)), look);
    const places = new Map<Hash, Place>();
    for (const { transactionHash: txHash, blockNumber, transactionIndex } of logs) {
      places.set(txHash, { txHash, blockNumber: Number(blockNumber), txIndex: Number(transactionIndex) });
    }
    return [...places.values()];
  };
}
