import { type Hash, type Hex, numberToHex, type PublicClient } from 'viem';

/** The fields of a block's header that are read. */
export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly logsBloom: Hex;
}

/** The newest blocks, each the parent of the next. */
export interface ChainLook {
  readonly head: BlockHeader;
  /** By number; the head, and those before it as far as a reorganisation may reach. */
  readonly headers: ReadonlyMap<number, BlockHeader>;
}

/** Looks at the newest blocks. */
export interface ChainView {
  /**
   * Reads the newest block and those before it that are not known yet.
   *
   * @param leastHead - the newest block that was ever seen
   * @throws NodeBehindError if the head is older than that, or blocks do not follow one another; viem's errors
   */
  look(leastHead: number): Promise<ChainLook>;
}

interface RawHeader {
  readonly number: Hex;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly logsBloom?: Hex;
}

/** Of nodes that show no filter: it says of nothing that it may be there. */
const NO_BLOOM: Hex = `0x${'00'.repeat(256)}`;

/** Creates the view. */
export function createChainView(options: { readonly client: PublicClient; readonly depth: number }): ChainView {
  const { client, depth } = options;
  let known = new Map<number, BlockHeader>();

  async function read(block: number | 'latest'): Promise<BlockHeader> {
    const tag = block === 'latest' ? block : numberToHex(block);
    const raw = (await client.request({
      method: 'eth_getBlockByNumber',
      params: [tag, false],
    })) as unknown as RawHeader | null;
    if (raw === null || raw.hash === null) throw new NodeBehindError(`it has no block ${block}`);
    const { hash, parentHash, logsBloom = NO_BLOOM } = raw;
    const header = { number: Number(raw.number), hash, parentHash, logsBloom };
    if (block !== 'latest' && header.number !== block) throw new NodeBehindError(`it gives another block for ${block}`);
    return header;
  }

  /** Blocks that are not known, asked for together: usually the few since the last look. */
  async function readMissing(head: BlockHeader, first: number): Promise<Map<number, BlockHeader>> {
    const missing: number[] = [];
    for (let number = head.number - 1; number >= first && !known.has(number); number--) missing.push(number);
    const headers = await Promise.all(missing.map(read));
    return new Map([head, ...headers].map((header) => [header.number, header]));
  }

  return {
    async look(leastHead) {
      const head = await read('latest');
      if (head.number < leastHead)
        throw new NodeBehindError(`its newest block is ${head.number}, and ${leastHead} was seen before`);
      const first = Math.max(0, head.number - depth + 1);
      const headers = await readMissing(head, first);
      for (let number = head.number - 1; number >= first; number--) {
        const child = headers.get(number + 1);
        const expected = child?.parentHash;
        const old = headers.get(number) ?? known.get(number);
        // After a reorganisation the ones that are known are no longer the ones.
        const header = old?.hash === expected ? old : await read(number);
        if (header === undefined || header.hash !== expected)
          throw new NodeBehindError(`block ${number} is not the parent of block ${number + 1}`);
        headers.set(number, header);
      }
      known = headers;
      return { head, headers };
    },
  };
}

/** The node, or a part of it, is behind what was seen of the chain already: what it says is not believed until it has caught up. */
export class NodeBehindError extends Error {
  override readonly name = 'NodeBehindError';
  readonly code = 'NODE_BEHIND';

  /** @param what - one clause: what does not agree */
  constructor(what: string) {
    super(`The node is behind: ${what}. Nothing is paid until it has caught up; check the node.`);
  }
}
