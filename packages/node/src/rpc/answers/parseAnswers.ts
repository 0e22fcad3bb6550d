/**
 * Readers of what nodes answer. Each takes a value of JSON and the name of what it is, and throws an RpcUnavailableError
 * `RPC_ANSWER_INVALID` when it is something else. @see https://ethereum.github.io/execution-apis/
 */
import type { Address, Hash, Hex, Log } from 'viem';
import { RpcUnavailableError } from '../rpcErrors.ts';

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;

/** An object of JSON. */
export type JsonRecord = Readonly<Record<string, unknown>>;

function nonsense(what: string): RpcUnavailableError {
  return new RpcUnavailableError(`the answer's ${what} is nonsense`, { code: 'RPC_ANSWER_INVALID' });
}

/** Reads a quantity like `0x1b`. */
export function parseQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw nonsense(what);
  return BigInt(value);
}

/** Reads a quantity that JavaScript's numbers hold. */
export function parseCount(value: unknown, what: string): number {
  const count = parseQuantity(value, what);
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) throw nonsense(what);
  return Number(count);
}

/** Reads 32 bytes, as lower case. */
export function parseHash(value: unknown, what: string): Hash {
  if (typeof value !== 'string' || !HASH.test(value)) throw nonsense(what);
  // The pattern has just been seen.
  return value.toLowerCase() as Hash;
}

/** Reads an address, as lower case. */
export function parseAddress(value: unknown, what: string): Address {
  if (typeof value !== 'string' || !ADDRESS.test(value)) throw nonsense(what);
  // The pattern has just been seen.
  return value.toLowerCase() as Address;
}

/** Reads whole bytes, as lower case. */
export function parseBytes(value: unknown, what: string): Hex {
  if (typeof value !== 'string' || !BYTES.test(value)) throw nonsense(what);
  // The pattern has just been seen.
  return value.toLowerCase() as Hex;
}

/** Reads an object. */
export function parseRecord(value: unknown, what: string): JsonRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw nonsense(what);
  // A value that is neither null nor an array nor a primitive is a record.
  return value as JsonRecord;
}

/** Reads an array. */
export function parseArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw nonsense(what);
  return value;
}

/** Reads a log. */
export function parseLog(value: unknown, what: string): Log {
  const log = parseRecord(value, what);
  const topics = parseArray(log.topics, `${what}.topics`).map((topic) => parseHash(topic, `${what}.topics`));
  return {
    address: parseAddress(log.address, `${what}.address`),
    // viem's type of topics is a tuple of any length or none.
    topics: topics as [Hex, ...Hex[]] | [],
    data: parseBytes(log.data, `${what}.data`),
    blockHash: parseHash(log.blockHash, `${what}.blockHash`),
    blockNumber: parseQuantity(log.blockNumber, `${what}.blockNumber`),
    transactionHash: parseHash(log.transactionHash, `${what}.transactionHash`),
    transactionIndex: parseCount(log.transactionIndex, `${what}.transactionIndex`),
    logIndex: parseCount(log.logIndex, `${what}.logIndex`),
    removed: log.removed === true,
  };
}
