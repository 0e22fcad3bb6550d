import { startOf, writeCursor } from '../../drivers/dynamodb/position.ts';
import type { RequestStore } from '../../ports/requestStore.ts';

/** The queue's figures for whoever watches it. */
export interface QueueMeasure {
  /** Age of the oldest pending request of the accepted chains, in milliseconds; 0 if none is pending. */
  readonly oldestPendingMs: number;
  /** How long the most overdue claim has been beyond its lease, in milliseconds; 0 if none is. */
  readonly overdueMs: number;
}

interface MeasureContext {
  readonly requests: Pick<RequestStore, 'list'>;
  /** Chains that requests are taken for; none: all. */
  readonly chains: readonly string[];
  /** 0: claims have no lease, and are never overdue. */
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Claimed requests that are looked at, the oldest: overdue claims are among them. */
const LOOKED_AT = 50;
/** Of what a look reads along. */
const MAX_PARAMS_BYTES = 131_072;
/** Pending requests that are looked at: the index may still show some that are claimed by now. */
const FIRST_FEW = 10;
/**
 * A request that was pending for longer has been reported for a day, in milliseconds. Nobody wants it: it pays too little, or was signed by
 * a prankster; an alarm that stayed raised for its sake would hide the next fault. However many of them there are, none is looked at.
 */
const UNWANTED_AFTER_MS = 86_400_000;

async function measurePending({ requests, now }: MeasureContext, chainName: string | undefined): Promise<number> {
  const { items } = await requests.list({
    filter: { status: 'pending', ...(chainName !== undefined && { chainName }) },
    order: 'asc',
    limit: FIRST_FEW,
    maxParamsBytes: MAX_PARAMS_BYTES,
    after: writeCursor(startOf(now() - UNWANTED_AFTER_MS)),
  });
  const [oldest] = items;
  return oldest === undefined ? 0 : Math.max(0, now() - oldest.createdAt);
}

async function measureOverdue({ requests, leaseMs, now }: MeasureContext): Promise<number> {
  if (leaseMs === 0) return 0;
  const filter = { status: 'processing' } as const;
  const { items } = await requests.list({ filter, order: 'asc', limit: LOOKED_AT, maxParamsBytes: MAX_PARAMS_BYTES });
  return Math.max(0, ...items.map(({ claimedAt }) => now() - (claimedAt ?? now()) - leaseMs));
}

/**
 * Measures the queue: how long requests wait for a relayer, and claims for their report.
 *
 * @throws DependencyUnavailableError
 */
export async function measureQueue(context: MeasureContext): Promise<QueueMeasure> {
  const chains = context.chains.length === 0 ? [undefined] : context.chains;
  const [overdueMs, ...pendingMs] = await Promise.all([
    measureOverdue(context),
    ...chains.map((chain) => measurePending(context, chain)),
  ]);
  return { oldestPendingMs: Math.max(...pendingMs), overdueMs };
}
