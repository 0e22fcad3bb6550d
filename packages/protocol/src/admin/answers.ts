import * as z from 'zod/mini';
import { addressFormat, chainNameFormat, isoTimeFormat } from '../formats.ts';

// Apart from what is parsed, so that a program that only writes these answers is bundled without them.

const actSchema = z.strictObject({
  at: isoTimeFormat,
  act: z.string(),
  keyId: z.string(),
  target: z.string(),
  reason: z.optional(z.string()),
});

/** The answer of `GET /admin/audit`. */
export const auditPageSchema = z.strictObject({
  items: z.array(actSchema),
  count: z.int(),
  lastKey: z.nullable(z.string()),
});
export type AuditPage = z.infer<typeof auditPageSchema>;

const clientUseSchema = z.strictObject({ limit: z.string(), client: z.string(), used: z.int(), most: z.int() });
const refusalsSchema = z.strictObject({ limit: z.string(), lastMinute: z.int(), lastHour: z.int() });
const budgetSchema = z.strictObject({
  name: z.string(),
  used: z.int(),
  most: z.optional(z.int()),
  ended: z.int(),
});
const diskSchema = z.strictObject({ freeBytes: z.int(), leastFreeBytes: z.int() });

/**
 * The answer of `GET /admin/service`.
 *
 * @see docs/specification.md ADMIN-12
 */
export const serviceSchema = z.strictObject({
  claimLeaseSeconds: z.int(),
  maxOpenClaims: z.int(),
  maxBodyBytes: z.int(),
  maxBatchSize: z.int(),
  chains: z.array(chainNameFormat),
  limits: z.record(z.string(), z.int()),
  clients: z.array(clientUseSchema),
  refusals: z.array(refusalsSchema),
  since: isoTimeFormat,
  budgets: z.array(budgetSchema),
  waiting: z.int(),
  disk: z.optional(diskSchema),
  key: z.strictObject({ keyId: z.string(), mayAct: z.boolean() }),
});
export type ServiceBody = z.infer<typeof serviceSchema>;

const programSchema = z.strictObject({
  name: z.string(),
  status: z.optional(z.record(z.string(), z.unknown())),
  error: z.optional(z.string()),
});

const count = z.int();

const chainCountsSchema = z.strictObject({
  chainName: z.nullable(chainNameFormat),
  pending: count,
  processing: count,
  success: count,
  failed: count,
});

const activitySchema = z.strictObject({
  start: isoTimeFormat,
  posts: count,
  claims: count,
  success: count,
  failed: count,
});

const relayerStatsSchema = z.strictObject({
  address: addressFormat,
  openClaims: count,
  success: count,
  failed: count,
  conflicts: count,
  medianMs: z.optional(z.number()),
  p95Ms: z.optional(z.number()),
  lastSeenAt: z.optional(isoTimeFormat),
});

/**
 * The answer of `GET /admin/stats`.
 *
 * @see docs/specification.md ADMIN-8, ADMIN-13
 */
export const queueStatsSchema = z.strictObject({
  version: z.string(),
  chains: z.array(chainCountsSchema),
  oldestPendingAt: z.optional(isoTimeFormat),
  oldestProcessingAt: z.optional(isoTimeFormat),
  minutes: z.array(activitySchema),
  hours: z.array(activitySchema),
  relayers: z.array(relayerStatsSchema),
  programs: z.array(programSchema),
  explorers: z.record(z.string(), z.string()),
});
export type QueueStatsBody = z.infer<typeof queueStatsSchema>;
