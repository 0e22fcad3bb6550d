import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { Creation, StoredRequest, Submission } from '../../ports/requestStore.ts';
import { type Item, put, readText } from './items.ts';
import { type ParamsReader, packParams } from './params.ts';
import { createItems, expiryOf, headOf, isExpired, type RequestTable, readHead } from './record.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** Looks at a marker until it agrees with what is stored: each further one is a rival, or a process that died. */
const MAX_LOOKS = 4;

/** Shared by creations. */
interface CreateContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly get: (requestId: string) => Promise<StoredRequest | undefined>;
}

/** The item found in place of a new one: none, the same (the call was repeated), or another, which may have expired. */
type Found = 'nothing' | 'same' | 'other' | 'expired';

/**
 * Stores a record. Params with an item of their own are written first: a head is whole from the moment it is there. If the process
 * dies in between, params without a head are left, which nothing shows.
 */
async function storeRecord({ table, params }: CreateContext, record: StoredRequest): Promise<Found> {
  const [packed, lane] = await Promise.all([packParams(record.paramsJson), table.register.laneFor(record.chainName)]);
  const items = createItems(record, packed, { ...table, lane });
  if (items.params !== undefined) {
    await put(table, items.params);
    params.keep(readText(items.params, 'requestId'), packed);
  }
  const { done, item } = await put(table, items.head, { condition: 'attribute_not_exists(requestId)' });
  const head = headOf(item);
  if (done || head === undefined) return 'nothing';
  if (isExpired(head, table.now())) return 'expired';
  const own = readHead(items.head);
  const isSame =
    head.record.createdAt === own.record.createdAt && Buffer.from(head.params).equals(Buffer.from(own.params));
  return isSame ? 'same' : 'other';
}

/** Says by which record a signature was taken: a plain one is stored on its own, whoever else carries the signature. */
interface Marker {
  readonly requestId: string;
  readonly isPlain: boolean;
}

function markerItem(table: RequestTable, key: string, { requestId, isPlain }: Marker): Item {
  const expiresAt = expiryOf(table.pendingRetentionDays, table.now());
  return { requestId: `once#${key}`, markedId: requestId, plain: isPlain ? 1 : undefined, [TTL_ATTRIBUTE]: expiresAt };
}

/** Marks a signature as taken, unless it is. @returns the marker that then stands */
async function markTaken(table: RequestTable, key: string, marker: Marker): Promise<Marker> {
  const { done, item } = await put(table, markerItem(table, key, marker), {
    condition: `attribute_not_exists(requestId) OR #${TTL_ATTRIBUTE} <= :now`,
    values: { ':now': Math.floor(table.now() / 1000) },
  });
  if (done || item === undefined) return marker;
  return { requestId: readText(item, 'markedId'), isPlain: item.plain !== undefined };
}

/** Puts another marker in the place of one whose record is not there, or has failed. */
const replaceMarker = (table: RequestTable, key: string, from: Marker, to: Marker) =>
  put(table, markerItem(table, key, to), { condition: 'markedId = :from', values: { ':from': from.requestId } });

/**
 * Stores a record unless one of the same submission is there. The marker is written first, so that of any number of calls one record comes;
 * if its process died before the record was there, the next call writes it under the id that the marker names.
 */
async function createOnce(context: CreateContext, record: StoredRequest, key: string): Promise<Creation> {
  const { table, get } = context;
  const own = { requestId: record.requestId, isPlain: false };
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const marker = await markTaken(table, key, own);
    if (marker.requestId !== own.requestId) {
      const standing = await get(marker.requestId);
      if (standing !== undefined && standing.status !== 'failed') return { outcome: 'exists', record: standing };
      if (standing !== undefined) {
        await replaceMarker(table, key, marker, own);
        continue;
      }
    }
    const named = { ...record, requestId: marker.requestId };
    // A plain creation that is still under way becomes a request of its own.
    const found = marker.isPlain ? 'expired' : await storeRecord(context, named);
    const isOwn = marker.requestId === own.requestId;
    if (found === 'expired') await replaceMarker(table, key, marker, own);
    else if (isOwn && found !== 'other') return { outcome: 'created' };
    else {
      const standing = await get(marker.requestId);
      // Whose marker stands has created it, also if a rival was faster to store what the marker names.
      if (standing !== undefined) return { outcome: isOwn ? 'created' : 'exists', record: standing };
    }
  }
  throw new DependencyUnavailableError('store');
}

/** Marks the signature of a plain creation, also if the record that has taken it has failed. */
async function markPlain({ table, get }: CreateContext, requestId: string, key: string): Promise<void> {
  const own = { requestId, isPlain: true };
  const marker = await markTaken(table, key, own);
  if (marker.requestId === requestId) return;
  if ((await get(marker.requestId))?.status === 'failed') await replaceMarker(table, key, marker, own);
}

/**
 * Stores a new request, or finds the one that carries the same signature. Repeating it with the same `requestId` changes nothing.
 *
 * @see docs/specification.md ONCE-1
 */
export async function createRequest(
  context: CreateContext,
  record: StoredRequest,
  submission: Submission | undefined,
): Promise<Creation> {
  if (submission?.once === true) return await createOnce(context, record, submission.key);
  await Promise.all([storeRecord(context, record), submission && markPlain(context, record.requestId, submission.key)]);
  return { outcome: 'created' };
}
