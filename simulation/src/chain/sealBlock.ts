import { type Hash, type Hex, toRlp } from 'viem';
import { toBytes, toHex } from './evm/createExecutor.ts';
import type { Crypto } from './loadCrypto.ts';
import type { BlockRecord, LogRecord } from './records.ts';
import type { StateChanges } from './state/createWorldState.ts';

const BLOOM_BYTES = 256;
const ZERO_WORD: Hash = `0x${'0'.repeat(64)}`;
/** Keccak of an empty list of RLP: no uncles. */
export const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
/** Root of an empty trie. */
export const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
/** SHA-256 of nothing: no requests of the execution layer. @see https://eips.ethereum.org/EIPS/eip-7685 */
export const NO_REQUESTS = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const EMPTY_BLOOM: Hex = `0x${'0'.repeat(2 * BLOOM_BYTES)}`;

/** Makes filters of logs. @see https://ethereum.github.io/yellowpaper/paper.pdf section 4.3.1 */
export function createBlooms({ keccak256 }: Crypto) {
  /** Addresses and topics come again and again. */
  const bits = new Map<Hex, readonly number[]>();
  const MAX_KEPT = 20_000;

  function findBits(value: Hex): readonly number[] {
    const kept = bits.get(value);
    if (kept !== undefined) return kept;
    const hash = keccak256(toBytes(value));
    const found = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
    if (bits.size >= MAX_KEPT) bits.clear();
    bits.set(value, found);
    return found;
  }

  return function makeBloom(logs: readonly Pick<LogRecord, 'address' | 'topics'>[]): Hex {
    if (logs.length === 0) return EMPTY_BLOOM;
    const bloom = new Uint8Array(BLOOM_BYTES);
    for (const { address, topics } of logs) {
      for (const bit of [address, ...topics].flatMap(findBits)) {
        const at = BLOOM_BYTES - 1 - (bit >> 3);
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
      }
    }
    return toHex(bloom);
  };
}

const quantity = (value: bigint): Hex => {
  const digits = value.toString(16);
  return value === 0n ? '0x' : `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
};

/**
 * Gives a block its hash, by the real form of a header. Its roots are digests of what changed, of the transactions and of the receipts, not
 * roots of tries: nobody asks for proofs, and the same content gives the same hash.
 *
 * @see https://eips.ethereum.org/EIPS/eip-7685 the header as of Prague
 */
export function sealBlock({ keccak256 }: Crypto, block: BlockRecord, changes: StateChanges): void {
  const digest = (text: string): Hash => toHex(keccak256(Buffer.from(text, 'latin1')));
  const { transactions } = block;
  block.stateRoot = digest(`${block.parent?.stateRoot ?? EMPTY_ROOT}\n${describeChanges(changes)}`);
  if (transactions.length > 0) {
    block.transactionsRoot = digest(transactions.map(({ hash }) => hash).join());
    const receipts = transactions.map(({ isSuccess, gasUsed, logs }) =>
      [isSuccess, gasUsed, ...logs.flatMap(({ address, topics, data }) => [address, ...topics, data])].join(),
    );
    block.receiptsRoot = digest(receipts.join(';'));
  }
  const header: readonly Hex[] = [
    ...[block.parentHash, NO_UNCLES, block.feeRecipient, block.stateRoot, block.transactionsRoot, block.receiptsRoot],
    ...[block.logsBloom, '0x', quantity(BigInt(block.number)), quantity(block.gasLimit), quantity(block.gasUsed)],
    ...[quantity(BigInt(block.timestampSeconds)), '0x', block.prevRandao, '0x0000000000000000'],
    ...[quantity(block.baseFeePerGas), EMPTY_ROOT, '0x', '0x', ZERO_WORD, NO_REQUESTS],
  ] as const as readonly Hex[];
  block.hash = toHex(keccak256(toBytes(toRlp(header))));
}

function describeChanges({ accounts, storage, cleared }: StateChanges): string {
  const parts: string[] = [...cleared];
  for (const [address, account] of accounts) {
    const code = account && Buffer.from(account.codeHash).toString('latin1');
    parts.push(address, account === undefined ? '-' : `${account.nonce},${account.balance},${code}`);
  }
  for (const [address, slots] of storage) {
    parts.push(address);
    for (const [slot, value] of slots) parts.push(slot, Buffer.from(value).toString('latin1'));
  }
  return parts.join('|');
}
