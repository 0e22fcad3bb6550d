import type { TargetFacts } from './openTarget.ts';

/** Defaults of `MAX_BODY_BYTES` and `MAX_BATCH_SIZE`. */
export const DEFAULT_LIMITS = { maxBodyBytes: 262_144, maxBatchSize: 100 } as const;

/**
 * Reads from the environment which gateway to test.
 *
 * @returns undefined if none is named: the run starts one of its own
 */
export function readFacts(env: Readonly<Record<string, string | undefined>>): TargetFacts | undefined {
  const { ACCEPTANCE_URL: url, ACCEPTANCE_ADMIN_KEY: adminKey, ACCEPTANCE_TOKENS: tokens } = env;
  if (!url) return undefined;
  return {
    url: url.replace(/\/+$/, ''),
    adminKey: adminKey || 'change-me-admin-key',
    tokens: tokens ? tokens.split('\n') : [],
    maxBodyBytes: Number(env.ACCEPTANCE_MAX_BODY_BYTES || DEFAULT_LIMITS.maxBodyBytes),
    maxBatchSize: Number(env.ACCEPTANCE_MAX_BATCH_SIZE || DEFAULT_LIMITS.maxBatchSize),
  };
}
