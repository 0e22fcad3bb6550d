import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Action, RequestStatus } from '@prism-gateway/protocol';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { bytes, type Item, number, readBytes, readNumber, readText, sizeOfItem, text } from './attributes.ts';
import { positionBytes, positionOf } from './position.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** What every function on the requests' table is given. */
export interface RequestTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  /** Partitions of one status, and of one chain, in their indexes; it may grow, never shrink. */
  readonly shards: number;
  /** Days after which finished requests expire; 0: never. */
  readonly retentionDays: number;
  /** Days after which requests expire that nobody has claimed; 0: never. */
  readonly pendingRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const MS_PER_SECOND = 1000;
const SECONDS_PER_DAY = 86_400;

/**
 * Tells when what is kept for some days from now on expires.
 *
 * @param days - 0: never
 * @param now - milliseconds since the epoch
 * @returns seconds since the epoch; undefined: never
 */
export function expiryOf(days: number, now: number): number | undefined {
  return days === 0 ? undefined : Math.floor(now / MS_PER_SECOND) + days * SECONDS_PER_DAY;
}

/** Names the partition of an index that a request is in: `pending#3`. */
export function shardKey(value: string, requestId: string, shards: number): string {
  return `${value}#${crc32(requestId) % shards}`;
}

/** Names all partitions of an index that hold requests of one status or chain. */
export function shardKeys(value: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${value}#${shard}`);
}

/** Bytes that one write unit pays for. */
const WRITE_UNIT_BYTES = 1024;
/** Hex digits that tell the params of one id apart; only rival creations of the same id ever differ. */
const DIGEST_DIGITS = 16;

/** Bytes by which calls on one request are told apart. */
const CALL_MARK_BYTES = 12;

type Layout = Pick<RequestTable, 'shards' | 'retentionDays' | 'pendingRetentionDays'>;

/** Shortens a call's id to what the head has room for. */
export const callMarkOf = (callId: string): Uint8Array =>
  createHash('sha256').update(callId).digest().subarray(0, CALL_MARK_BYTES);

/** A request as its item holds it: its params packed, or the key of the item that holds them. */
export interface RequestHeader {
  readonly record: Omit<StoredRequest, 'paramsJson'>;
  readonly params: Uint8Array | string;
  /** The mark of the call that moved the request last. */
  readonly callMark?: Uint8Array;
  /** Seconds since the epoch; from then on it counts as gone. */
  readonly expiresAt?: number;
  /** When params with an item of their own expire, as they were told last; absent: never. */
  readonly paramsExpireAt?: number;
  /** When they are to expire; absent: they were told. */
  readonly paramsExpireTo?: number;
}

/** The attributes that move with a status: the status itself, and its partition in the index. */
export function statusAttributes(status: RequestStatus, requestId: string, shards: number) {
  return { status: text(status), statusShard: text(shardKey(status, requestId, shards)) };
}

/** The attributes that a request has while it is pending, and never while it is claimed; once it has succeeded, the first holds its transaction. */
export const PENDING_ATTRIBUTES = ['pendingShard', 'releasedChain', 'releasePosition', TTL_ATTRIBUTE] as const;

/** Digits of a transaction's hash that tell nearly all apart; those that they do not are told apart by the record. */
const HASH_DIGITS = 10;

/** Names the partition that holds what a transaction carried out. No chain's name begins like it. */
export const transactionKey = (txHash: string) => `#${txHash.slice(2, 2 + HASH_DIGITS).toLowerCase()}`;

/** How much longer than their head params live, in seconds: a claim of the last moment finds them. */
export const PARAMS_OUTLIVE_SECONDS = 86_400;

function createHeadItem(record: StoredRequest, shards: number): Item {
  const { requestId, chainName, action, signer, status, createdAt, updatedAt } = record;
  const chainShard = text(shardKey(chainName, requestId, shards));
  return {
    requestId: text(requestId),
    chainName: text(chainName),
    action: text(action),
    signer: text(signer),
    createdAt: number(createdAt),
    updatedAt: number(updatedAt),
    ...statusAttributes(status, requestId, shards),
    chainShard,
    pendingShard: chainShard,
    signerKey: text(signer.toLowerCase()),
    position: bytes(positionBytes(positionOf(record))),
  };
}

/** Values as long as those that a life without an error message adds. */
function laterAttributes({ requestId }: StoredRequest, { shards, retentionDays }: Layout): Item {
  return {
    ...statusAttributes('processing', requestId, shards),
    claimedBy: text(`0x${'0'.repeat(40)}`),
    claimedAt: number(1_800_000_000_001),
    callMark: bytes(new Uint8Array(CALL_MARK_BYTES)),
    txHash: text(`0x${'0'.repeat(64)}`),
    pendingShard: text(transactionKey(`0x${'0'.repeat(64)}`)),
    ...(retentionDays > 0 && { [TTL_ATTRIBUTE]: number(1_800_000_001) }),
  };
}

/** The item or items of a new request. */
interface NewItems {
  readonly head: Item;
  /** The params, where they do not fit the head. */
  readonly params?: Item;
}

/**
 * Lays a new request out in items. Params stay in the head as long as its whole life fits one write unit; else they get an item
 * of their own, which no claim and no report touches.
 *
 * @param packed - the params, compressed
 * @param layout - how the table is laid out
 */
export function createItems(record: StoredRequest, packed: Uint8Array, layout: Layout): NewItems {
  const head = createHeadItem(record, layout.shards);
  const whole: Item = { ...head, params: bytes(packed) };
  const { pendingShard: _, ...lasting } = whole;
  const expiresAt = expiryOf(layout.pendingRetentionDays, record.createdAt);
  const expiry: Item = expiresAt === undefined ? {} : { [TTL_ATTRIBUTE]: number(expiresAt) };
  const latest = { ...lasting, ...laterAttributes(record, layout) };
  if (sizeOfItem(latest) <= WRITE_UNIT_BYTES) return { head: { ...whole, ...expiry } };
  // The key tells the content, so that of rival creations of one id each head finds its own params.
  const digest = createHash('sha256').update(packed).digest('hex').slice(0, DIGEST_DIGITS);
  const paramsKey = `${record.requestId}#${digest}`;
  const paramsExpiresAt = expiresAt === undefined ? undefined : number(expiresAt + PARAMS_OUTLIVE_SECONDS);
  return {
    head: {
      ...head,
      ...expiry,
      paramsKey: text(paramsKey),
      ...(paramsExpiresAt && { paramsExpireAt: paramsExpiresAt }),
    },
    params: {
      requestId: text(paramsKey),
      params: bytes(packed),
      ...(paramsExpiresAt && { [TTL_ATTRIBUTE]: paramsExpiresAt }),
    },
  };
}

const has = (item: Item, attribute: string) => item[attribute] !== undefined;

/** Reads what a request's item says but for its params. @throws BrokenItemError */
export function readRecord(item: Item): RequestHeader['record'] {
  return {
    requestId: readText(item, 'requestId'),
    chainName: readText(item, 'chainName'),
    // Written by this driver from values of these types.
    action: readText(item, 'action') as Action,
    signer: readText(item, 'signer'),
    status: readText(item, 'status') as RequestStatus,
    createdAt: readNumber(item, 'createdAt'),
    updatedAt: readNumber(item, 'updatedAt'),
    ...(has(item, 'txHash') && { txHash: readText(item, 'txHash') }),
    ...(has(item, 'errorMessage') && { errorMessage: readText(item, 'errorMessage') }),
    ...(has(item, 'claimedBy') && { claimedBy: readText(item, 'claimedBy') }),
    ...(has(item, 'claimedAt') && { claimedAt: readNumber(item, 'claimedAt') }),
  };
}

/**
 * Reads a request's item.
 *
 * @throws BrokenItemError
 */
export function readHead(item: Item): RequestHeader {
  return {
    record: readRecord(item),
    params: has(item, 'paramsKey') ? readText(item, 'paramsKey') : readBytes(item, 'params'),
    ...(has(item, 'callMark') && { callMark: readBytes(item, 'callMark') }),
    ...(has(item, TTL_ATTRIBUTE) && { expiresAt: readNumber(item, TTL_ATTRIBUTE) }),
    ...(has(item, 'paramsExpireAt') && { paramsExpireAt: readNumber(item, 'paramsExpireAt') }),
    ...(has(item, 'paramsExpireTo') && { paramsExpireTo: readNumber(item, 'paramsExpireTo') }),
  };
}

/** Whether a head has expired; DynamoDB takes its time to remove it. @param now - milliseconds since the epoch */
export function isExpired({ expiresAt }: RequestHeader, now: number): boolean {
  return expiresAt !== undefined && expiresAt * 1000 <= now;
}
