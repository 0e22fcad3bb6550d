import { type Address, type Hash, type Hex, numberToHex, type PublicClient, pad, slice } from 'viem';
import type { Party, Place } from '../journal/createTransferTable.ts';
import { TRANSFER_TOPIC } from './calls.ts';
import { type ChainLook, NodeBehindError } from './createChainView.ts';
import { createLogFinder } from './createLogFinder.ts';

/** JSON-RPC's codes for a method that a node does not have, or does not offer. */
const NO_METHOD = [-32_601, -32_004];
/** Addresses of one query: nodes take a thousand at most. */
const MAX_ADDRESSES = 200;

interface RawLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hash;
  readonly blockHash: Hash;
  readonly blockNumber: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
}

/** A transfer of the token, as its log says it; addresses in lower case. */
export interface TransferLog extends Place {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/** Whose transfers are searched for over which blocks. */
export interface LogQuery {
  readonly parties: readonly Party[];
  readonly fromBlock: number;
  readonly toBlock: number;
}

function codeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'number') return at.code;
  return undefined;
}

const topicOf = ({ address }: Pick<Party, 'address'>) => pad(address, { size: 32 });

/** The filters that find the transfers of parties: a node joins addresses of one topic, and not of two. */
function listFilters(creditToken: Address, parties: readonly Party[]): readonly object[] {
  const filters: object[] = [];
  for (const side of ['from', 'to'] as const) {
    const topics = parties.filter((party) => party.side === side).map(topicOf);
    for (let first = 0; first < topics.length; first += MAX_ADDRESSES) {
      const some = topics.slice(first, first + MAX_ADDRESSES);
      filters.push({ address: creditToken, topics: [TRANSFER_TOPIC, ...(side === 'to' ? [null] : []), some] });
    }
  }
  return filters;
}

function readTransfer({ topics, data, ...log }: RawLog): TransferLog {
  const [, from = '0x', to = '0x'] = topics;
  // The last 20 bytes of a word are an address; lower case of one is one.
  const addressOf = (topic: Hex) => (topic.length === 66 ? slice(topic, 12).toLowerCase() : '0x') as Address;
  return {
    txHash: log.transactionHash,
    blockNumber: Number(log.blockNumber),
    txIndex: Number(log.transactionIndex),
    from: addressOf(from),
    to: addressOf(to),
    value: data === '0x' ? 0n : BigInt(slice(data, 0, 32)),
  };
}

/** Most parties whose finders are kept: every wallet that is paid is one. */
const MAX_FINDERS = 1000;

/**
 * Creates what asks a node for transfers of a token, and compares the answers with the headers of the blocks.
 *
 * @returns a function that gives the transfers of parties
 * @throws NodeBehindError if logs and headers do not agree; viem's errors
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export function createLogReader(options: { readonly client: PublicClient; readonly creditToken: Address }) {
  const { client, creditToken } = options;
  /** Parties of whom a block's filter speaks though it has no log of theirs, by the block's hash. */
  const cleared = new Map<Hash, Set<string>>();
  const finders = new Map<string, (logsBloom: Hex) => boolean>();

  async function readLogs(filter: object): Promise<readonly RawLog[]> {
    // viem's own action takes one event of one ABI; the answer is that of the JSON-RPC method.
    return (await client.request({ method: 'eth_getLogs', params: [filter] } as never)) as readonly RawLog[];
  }

  async function readAll(parties: readonly Party[], where: object): Promise<readonly RawLog[]> {
    const filters = listFilters(creditToken, parties);
    const logs = (await Promise.all(filters.map((filter) => readLogs({ ...filter, ...where })))).flat();
    // One from a relayer to a wallet is found by both.
    return [...new Map(logs.map((log) => [`${log.blockHash} ${log.logIndex}`, log])).values()];
  }

  function mayHave(logsBloom: Hex, { address }: Party): boolean {
    const known = finders.get(address);
    if (known !== undefined) return known(logsBloom);
    if (finders.size >= MAX_FINDERS) finders.clear();
    const finder = createLogFinder([creditToken, TRANSFER_TOPIC, topicOf({ address })]);
    finders.set(address, finder);
    return finder(logsBloom);
  }

  /** Whether a block has a transfer of parties, by its logs and receipts. */
  async function hasTransfer(blockHash: Hash, parties: readonly Party[]): Promise<boolean> {
    if ((await readAll(parties, { blockHash })).length > 0) return true;
    try {
      const receipts = (await client.request({ method: 'eth_getBlockReceipts', params: [blockHash] } as never)) as
        | readonly { readonly logs: readonly RawLog[] }[]
        | null;
      if (receipts === null) return true;
      const logs = receipts.flatMap((receipt) => receipt.logs);
      return logs.some(({ address, topics }) => {
        const isTransfer = topics[0] === TRANSFER_TOPIC && address.toLowerCase() === creditToken.toLowerCase();
        return isTransfer && parties.some((party) => topics[party.side === 'from' ? 1 : 2] === topicOf(party));
      });
    } catch (error) {
      // A node without the method: its word for the single block must do.
      if (NO_METHOD.includes(Number(codeOf(error)))) return false;
      throw error;
    }
  }

  /** @throws NodeBehindError if a block's filter speaks of a log, the block has it, and the answer does not */
  async function checkFilters({ parties, fromBlock, toBlock }: LogQuery, found: ReadonlySet<string>, look: ChainLook) {
    const current = new Set([...look.headers.values()].map(({ hash }) => hash));
    for (const hash of cleared.keys()) if (!current.has(hash)) cleared.delete(hash);
    for (const { number, hash, logsBloom } of look.headers.values()) {
      if (number < fromBlock || number > toBlock || found.has(hash)) continue;
      const known = cleared.get(hash) ?? new Set();
      const suspects = parties.filter((party) => !known.has(party.address) && mayHave(logsBloom, party));
      if (suspects.length === 0) continue;
      if (await hasTransfer(hash, suspects)) throw new NodeBehindError(`its logs lack those of block ${number}`);
      cleared.set(hash, new Set([...known, ...suspects.map(({ address }) => address)]));
    }
  }

  return async (query: LogQuery, look: ChainLook): Promise<readonly TransferLog[]> => {
    const { parties, fromBlock, toBlock } = query;
    const logs = await readAll(parties, { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) });
    for (const { blockNumber, blockHash } of logs) {
      const header = look.headers.get(Number(blockNumber));
      if (Number(blockNumber) > toBlock) throw new NodeBehindError(`it gives logs beyond block ${toBlock}`);
      if (header !== undefined && header.hash !== blockHash)
        throw new NodeBehindError(`its logs are of another block ${header.number} than its headers`);
    }
    await checkFilters(query, new Set(logs.map(({ blockHash }) => blockHash)), look);
    return logs.map(readTransfer);
  };
}
