import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Action, RequestStatus } from '@prism-gateway/protocol';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { type Item, readBytes, readFields, readText, sizeOfItem, type Table } from './items.ts';
import { lanePositionBytes, POSITION_BYTES, positionBytes, positionOf } from './position.ts';
import type { TableRegister } from './tableRegister.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** The context of every function on the requests' table. */
export interface RequestTable extends Table {
  readonly register: TableRegister;
  /** Partitions of one status in its index; it may grow, never shrink. */
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
 * When what is kept for some days from now on expires.
 *
 * @param days - 0: never
 * @param now - milliseconds since the epoch
 * @returns seconds since the epoch; undefined: never
 */
export function expiryOf(days: number, now: number): number | undefined {
  return days === 0 ? undefined : Math.floor(now / MS_PER_SECOND) + days * SECONDS_PER_DAY;
}

/** Names the partition of the index that a request is in: `pending#3`. */
export function shardKey(value: string, requestId: string, shards: number): string {
  return `${value}#${crc32(requestId) % shards}`;
}

/** Names all partitions of the index that hold requests of one status. */
export function shardKeys(value: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${value}#${shard}`);
}

/** Bytes that one write unit pays for. */
const WRITE_UNIT_BYTES = 1024;
/** Hex digits that distinguish the params of one id; only rival creations of the same id ever differ. */
const DIGEST_DIGITS = 16;

/** Bytes by which calls on one request are distinguished. */
const CALL_MARK_BYTES = 8;

type Layout = Pick<RequestTable, 'shards' | 'retentionDays' | 'pendingRetentionDays'> & { readonly lane: string };

/** Shortens a call's id to what the head has room for. */
export const callMarkOf = (callId: string): Uint8Array =>
  createHash('sha256').update(callId).digest().subarray(0, CALL_MARK_BYTES);

/** A request as its item holds it: its params packed, or the key of the item that holds them. */
export interface RequestHeader {
  readonly record: Omit<StoredRequest, 'paramsJson'>;
  readonly params: Uint8Array | string;
  /** The mark of the call that moved the request last. */
  readonly callMark?: Uint8Array;
  /** When the relayer that holds it, or gave it back, claimed it first; absent: with the claim that stands. */
  readonly heldSince?: number;
  /** Seconds since the epoch; from then on it counts as gone. */
  readonly expiresAt?: number;
}

/** The attributes that move with a status: the status itself, and its partition in the index. */
export function statusAttributes(status: RequestStatus, requestId: string, shards: number) {
  return { status: status, shard: shardKey(status, requestId, shards) };
}

/** The attributes that a request may have while it is pending, and never while it is claimed. */
export const PENDING_ATTRIBUTES = ['foundBy', 'foundAt', TTL_ATTRIBUTE] as const;

/** Digits of a transaction's hash that distinguish nearly all; those that they do not are distinguished by the record. */
const HASH_DIGITS = 10;

/** Names the partition that holds what a transaction carried out. No chain's name begins like it. */
export const transactionKey = (txHash: string) => `#${txHash.slice(2, 2 + HASH_DIGITS).toLowerCase()}`;

/** Names the partition of a signer: an address, without regard to letter case. */
export const signerBytes = (signer: string): Uint8Array => Buffer.from(signer.slice(2), 'hex');

function createHeadItem(record: StoredRequest, lane: string, shards: number): Item {
  const { requestId, chainName, action, signer, status, createdAt, updatedAt } = record;
  const position = positionOf(record);
  return {
    ...{ requestId, chainName, action, signer, createdAt, updatedAt },
    ...statusAttributes(status, requestId, shards),
    place: lanePositionBytes(lane, position),
    from: signerBytes(signer),
    order: positionBytes(position),
  };
}

/** Values as long as those that a life without an error message adds. */
function laterAttributes({ requestId }: StoredRequest, { shards, retentionDays }: Layout): Item {
  return {
    ...statusAttributes('processing', requestId, shards),
    claimedBy: `0x${'0'.repeat(40)}`,
    claimedAt: 1_800_000_000_001,
    callMark: new Uint8Array(CALL_MARK_BYTES),
    txHash: `0x${'0'.repeat(64)}`,
    foundBy: transactionKey(`0x${'0'.repeat(64)}`),
    foundAt: new Uint8Array(POSITION_BYTES),
    [TTL_ATTRIBUTE]: retentionDays > 0 ? 1_800_000_001 : undefined,
  };
}

/** The item or items of a new request. */
interface NewItems {
  readonly head: Item;
  /** The params, if they do not fit the head. */
  readonly params?: Item;
}

/**
 * Lays a new request out in items. Params stay in the head as long as its whole life fits one write unit; else they get an item
 * of their own, which is written once: no claim and no report touches it, and it goes with its head.
 *
 * @param packed - the params, compressed
 * @param layout - how the table is laid out, and the lane of the request's chain
 */
export function createItems(record: StoredRequest, packed: Uint8Array, layout: Layout): NewItems {
  const head = createHeadItem(record, layout.lane, layout.shards);
  const expiry = { [TTL_ATTRIBUTE]: expiryOf(layout.pendingRetentionDays, record.createdAt) };
  const whole: Item = { ...head, params: packed };
  if (sizeOfItem({ ...whole, ...laterAttributes(record, layout) }) <= WRITE_UNIT_BYTES) {
    return { head: { ...whole, ...expiry } };
  }
  // The key names the content, so that of rival creations of one id each head finds its own params.
  const digest = createHash('sha256').update(packed).digest('hex').slice(0, DIGEST_DIGITS);
  const paramsKey = `${record.requestId}#${digest}`;
  return { head: { ...head, ...expiry, paramsKey }, params: { requestId: paramsKey, params: packed } };
}

/** Reads what a request's item says but for its params. @throws BrokenItemError */
export function readRecord(item: Item): RequestHeader['record'] {
  const { action, status, ...fields } = readFields(
    item,
    {
      ...{ requestId: 'text', chainName: 'text', action: 'text', signer: 'text', status: 'text' },
      ...{ createdAt: 'number', updatedAt: 'number' },
    },
    { txHash: 'text', errorMessage: 'text', claimedBy: 'text', claimedAt: 'number' },
  );
  // Written by this driver from values of these types.
  return { ...fields, action: action as Action, status: status as RequestStatus };
}

/** Reads a request's item. @throws BrokenItemError */
export function readHead(item: Item): RequestHeader {
  return {
    record: readRecord(item),
    params: item.paramsKey === undefined ? readBytes(item, 'params') : readText(item, 'paramsKey'),
    ...readFields(item, {}, { callMark: 'bytes', heldSince: 'number', [TTL_ATTRIBUTE]: 'number' }),
  };
}

/** Whether a head has expired; DynamoDB takes its time to remove it. @param now - milliseconds since the epoch */
export function isExpired({ expiresAt }: RequestHeader, now: number): boolean {
  return expiresAt !== undefined && expiresAt * 1000 <= now;
}

/** Reads a request's item, if there is one. @throws BrokenItemError */
export const headOf = (item: Item | undefined): RequestHeader | undefined => item && readHead(item);
