import * as z from 'zod/mini';
import { expecting, isoTimeFormat } from '../formats.ts';

export const STORAGE_OPERATIONS = ['put', 'get', 'head', 'delete'] as const;

export type StorageOperation = (typeof STORAGE_OPERATIONS)[number];

function hexOfBytes(bytes: number, description: string) {
  const error = expecting(`0x followed by ${2 * bytes} hex digits`);
  const pattern = new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`);
  const meta = z.meta({ description, examples: [`0x${'a1'.repeat(bytes)}`] });
  return z.string({ error }).check(z.regex(pattern, { error }), meta);
}

const wholeBytes = expecting('a whole number of bytes');

/**
 * Body of `POST /storage/sign`.
 *
 * @see docs/specification.md SIGN-1
 */
export const signStorageSchema = z.strictObject(
  {
    projectId: hexOfBytes(16, 'Project, 16 bytes'),
    key: hexOfBytes(32, "SHA-256 of the encrypted object's content"),
    operation: z.enum(STORAGE_OPERATIONS, { error: expecting(`one of ${STORAGE_OPERATIONS.join(', ')}`) }),
    size: z.optional(
      z.number({ error: wholeBytes }).check(
        z.int({ error: wholeBytes }),
        z.gte(0, { error: wholeBytes }),
        z.meta({
          description: 'Of a put: the bytes that the object has; the URL takes no other number',
          examples: [1024],
        }),
      ),
    ),
  },
  { error: expecting('an object') },
);

/** Answer of `POST /storage/sign`. */
export const signedOperationSchema = z.strictObject({
  url: z.string().check(z.meta({ description: 'Presigned URL, good for one operation on one object' })),
  method: z.enum(['PUT', 'GET', 'HEAD', 'DELETE']),
  headers: z.record(z.string(), z.string()).check(z.meta({ description: 'Headers that must accompany the call' })),
  expiresAt: isoTimeFormat,
});

export type SignStorageBody = z.infer<typeof signStorageSchema>;
export type SignedOperationBody = z.infer<typeof signedOperationSchema>;
