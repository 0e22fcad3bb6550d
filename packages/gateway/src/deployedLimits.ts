/**
 * Limits of one address in a deployment to AWS, unless its settings say otherwise: they keep the worst day that it can cause below five
 * dollars. `npm run bench -- dynamodb --worst-day` prints that day.
 */
export const DEPLOYED_LIMITS = {
  /** Calls in five minutes, counted by the firewall. */
  callsInFiveMinutes: 400,
  /** Bytes of anonymous bodies a minute, counted by the gateway: `RATE_LIMIT_WRITE_BYTES`. */
  writeBytesAMinute: 2 * 1024 * 1024,
} as const;

/** Ceilings of a deployment in prod, unless its settings say otherwise. @see docs/scaling.md */
export const DEPLOYED_CEILINGS = {
  /** `RESERVED_CONCURRENCY`; Lambda lets ten calls a second through for each. */
  instances: 100,
  /** Of each table and index, a second: `MAX_TABLE_WRITE_UNITS`. */
  writeUnits: 4000,
} as const;
