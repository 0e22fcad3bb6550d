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

/** Path parameters of `DELETE /admin/relayers/{address}`. */
export const removeRelayerSchema = z.strictObject({ address: addressFormat });

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
});

export const relayerListSchema = z.strictObject({ relayers: z.array(relayerRecordSchema), count: z.int() });

export const relayerRemovedSchema = z.strictObject({ message: z.string(), address: addressFormat });

export type AddRelayerBody = z.infer<typeof addRelayerSchema>;
export type RelayerWireRecord = z.infer<typeof relayerRecordSchema>;
export type RelayerList = z.infer<typeof relayerListSchema>;
export type RelayerRemoved = z.infer<typeof relayerRemovedSchema>;
