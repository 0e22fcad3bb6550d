import * as z from 'zod/mini';
import { addressFormat, codePointsFormat, expecting, isoTimeFormat } from '../formats.ts';

/** Most Unicode code points of a relayer's label. */
export const MAX_LABEL_LENGTH = 200;

const labelFormat = codePointsFormat(MAX_LABEL_LENGTH, 'Name for people', 'relayer-eu-1');

/** Body of `POST /admin/relayers`. */
export const addRelayerSchema = z.strictObject(
  { address: addressFormat, label: z.optional(labelFormat) },
  { error: expecting('an object') },
);

/** Most Unicode code points of the reason of a suspension. */
export const MAX_REASON_LENGTH = 500;

/** Body of `POST /admin/relayers/{address}/suspend`. */
export const suspendRelayerSchema = z.strictObject(
  { reason: codePointsFormat(MAX_REASON_LENGTH, 'Why, for people; the relayer sees it', 'its key was seen in a log') },
  { error: expecting('an object') },
);

/** Path parameters of the routes below `/admin/relayers/{address}`. */
export const relayerPathSchema = z.strictObject({ address: addressFormat });

/**
 * A whitelisted relayer as the service returns it.
 *
 * @see docs/specification.md WHITELIST-2
 */
export const relayerRecordSchema = z.strictObject({
  address: addressFormat,
  label: z.optional(z.string()),
  createdAt: isoTimeFormat,
  updatedAt: isoTimeFormat,
  suspendedAt: z.optional(isoTimeFormat),
  suspendReason: z.optional(z.string()),
});

export const relayerListSchema = z.strictObject({ relayers: z.array(relayerRecordSchema), count: z.int() });

export const relayerRemovedSchema = z.strictObject({ message: z.string(), address: addressFormat });

/** Answer to `POST /admin/relayers/{address}/release`; `complete` is false if the relayer may hold more. */
export const relayerReleasedSchema = z.strictObject({
  address: addressFormat,
  released: z.int(),
  complete: z.boolean(),
});

export type AddRelayerBody = z.infer<typeof addRelayerSchema>;
export type RelayerWireRecord = z.infer<typeof relayerRecordSchema>;
export type RelayerList = z.infer<typeof relayerListSchema>;
export type RelayerReleased = z.infer<typeof relayerReleasedSchema>;
export type RelayerRemoved = z.infer<typeof relayerRemovedSchema>;
