import * as z from 'zod/mini';
import { ACTIONS, type Action } from '../actions/action.ts';
import { addressFormat, chainNameFormat, isoTimeFormat, requestIdFormat, txHashFormat } from '../formats.ts';
import type { ActionParams } from './create.ts';
import { REQUEST_STATUSES } from './status.ts';

/**
 * A request as the service returns it. A field that has no value is absent.
 *
 * @see docs/specification.md RECORD-1
 */
export const requestRecordSchema = z.strictObject({
  requestId: requestIdFormat,
  chainName: chainNameFormat,
  action: z.enum(ACTIONS),
  signer: addressFormat,
  status: z.enum(REQUEST_STATUSES),
  params: z.record(z.string(), z.unknown()).check(z.meta({ description: 'As submitted' })),
  createdAt: isoTimeFormat,
  updatedAt: isoTimeFormat,
  txHash: z.optional(txHashFormat),
  errorMessage: z.optional(z.string()),
  claimedBy: z.optional(addressFormat),
  claimedAt: z.optional(isoTimeFormat),
});

/** A page of requests; `lastKey` is null on the last page, and `cut` is there if it ended before its `limit` and is not the last. */
export const requestPageSchema = z.strictObject({
  items: z.array(requestRecordSchema),
  count: z.int(),
  lastKey: z.nullable(z.string()),
  cut: z.optional(z.literal(true)),
});

type RecordFields = z.infer<typeof requestRecordSchema>;

export type RequestRecord<A extends Action = Action> = Omit<RecordFields, 'action' | 'params'> & {
  action: A;
  params: ActionParams<A>;
};

/** A record without its params. */
export type RequestHead = Omit<RequestRecord, 'params'>;

export interface RequestPage {
  items: RequestRecord[];
  count: number;
  lastKey: string | null;
  /** The page ended before its `limit`: its requests are large, or many had to be looked at. */
  cut?: true | undefined;
}
