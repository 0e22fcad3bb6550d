import { type Address, type Hex, parseTransaction, type TransactionSerialized } from 'viem';
import { serializeTransaction, toRlp } from 'viem/utils';
import { toBytes, toHex } from './evm/createExecutor.ts';
import type { Crypto } from './loadCrypto.ts';
import { failServer, type RpcFailure } from './RpcFailure.ts';
import type { Authorization, SignedTransaction } from './records.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const TYPES = ['legacy', 'eip2930', 'eip1559', 'eip7702'] as const;
const MAGIC = '05';

/** The parts that every account needs to have signed something. */
interface SignatureParts {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

const word = (hex: Hex) => toBytes(`0x${hex.slice(2).padStart(64, '0')}`);
const quantity = (value: number): Hex => (value === 0 ? '0x' : `0x${evenHex(value.toString(16))}`);
const evenHex = (digits: string) => (digits.length % 2 === 0 ? digits : `0${digits}`);

function createRecover({ keccak256, recover }: Crypto) {
  return function recoverAddress(digest: Uint8Array, { r, s, yParity }: SignatureParts): Address | undefined {
    // Of the two signatures that are always possible only one is allowed. @see https://eips.ethereum.org/EIPS/eip-2
    if (yParity > 1 || BigInt(s) > ORDER / 2n) return undefined;
    const key = recover(digest, Buffer.concat([word(r), word(s)]), yParity);
    return key && toHex(keccak256(key).subarray(12));
  };
}

/**
 * Makes the reader of signed transactions.
 *
 * @returns a function that gives the transaction, or throws what geth says of it
 */
export function createReadTransaction(crypto: Crypto, chainId: number): (raw: Hex) => SignedTransaction {
  const { keccak256 } = crypto;
  const recoverAddress = createRecover(crypto);
  const known = new Map<Hex, SignedTransaction>();

  type Parsed = ReturnType<typeof parseTransaction>;

  function readAuthorizations(parsed: Parsed): readonly Authorization[] {
    if (parsed.type !== 'eip7702') return [];
    return (parsed.authorizationList ?? []).map((each) => {
      const { chainId: own, address, nonce, r, s } = each;
      const yParity = each.yParity ?? 0;
      const rlp = toRlp([quantity(own), address, quantity(nonce)]);
      const digest = keccak256(toBytes(`0x${MAGIC}${rlp.slice(2)}`));
      const authority = recoverAddress(digest, { r, s, yParity });
      return { chainId: own, address: lower(address), nonce, yParity, r, s, authority };
    });
  }

  function findSender(parsed: Parsed, parts: SignatureParts): Address {
    const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = parsed as Parsed & Record<string, unknown>;
    // A parsed transaction can be written again.
    const digest = keccak256(toBytes(serializeTransaction(unsigned as never)));
    const from = recoverAddress(digest, parts);
    if (from === undefined || parsed.chainId !== chainId) throw failServer('invalid sender');
    return from;
  }

  function read(raw: Hex): SignedTransaction {
    const parsed = parse(raw);
    const type = TYPES.find((each) => each === parsed.type);
    if (type === undefined) throw failServer('transaction type not supported');
    if (parsed.chainId === undefined) throw failServer('only replay-protected (EIP-155) transactions allowed over RPC');
    const { r, s, v = 0n, yParity = 0 } = parsed as unknown as SignatureParts & { readonly v?: bigint };
    if (r === undefined || s === undefined) throw failServer('invalid sender');
    const parity = type === 'legacy' ? Number((v - 35n) % 2n) : yParity;
    const price = parsed.gasPrice ?? 0n;
    return {
      raw,
      hash: toHex(keccak256(toBytes(raw))),
      from: findSender(parsed, { r, s, yParity: parity }),
      type,
      chainId: parsed.chainId,
      nonce: parsed.nonce ?? 0,
      to: parsed.to == null ? undefined : lower(parsed.to),
      data: parsed.data ?? '0x',
      value: parsed.value ?? 0n,
      gasLimit: parsed.gas ?? 0n,
      maxFeePerGas: parsed.maxFeePerGas ?? price,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? (parsed.maxFeePerGas === undefined ? price : 0n),
      accessList: (parsed.accessList ?? []).map(({ address, storageKeys }) => ({
        address: lower(address),
        storageKeys: storageKeys.map((each) => each.toLowerCase() as Hex),
      })),
      authorizations: readAuthorizations(parsed),
      signature: { r, s, yParity: parity, v: type === 'legacy' ? v : BigInt(parity) },
    };
  }

  return (raw) => {
    const before = known.get(raw);
    if (before !== undefined) return before;
    const transaction = read(raw);
    // The same bytes come to several nodes, and again after half a minute.
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(raw, transaction);
    return transaction;
  };
}

const MAX_KNOWN = 2000;

const lower = (address: Address) => address.toLowerCase() as Address;

/** @throws RpcFailure */
function parse(raw: Hex): ReturnType<typeof parseTransaction> {
  try {
    return parseTransaction(raw as TransactionSerialized) as ReturnType<typeof parseTransaction>;
  } catch {
    const first = Number.parseInt(raw.slice(2, 4), 16);
    throw first < 0xc0 && !(first >= 1 && first <= 4)
      ? failServer('transaction type not supported')
      : (failServer('rlp: value size exceeds available input length') as RpcFailure);
  }
}
