import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';

/** What the queue shows to whoever watches it. */
export interface QueueMeasure {
  /** Age of the oldest pending request of the accepted chains, in milliseconds; 0 where none is pending. */
  readonly oldestPendingMs: number;
  /** How long the most overdue claim has been beyond its lease, in milliseconds; 0 where none is. */
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

/** Requests of each kind that are looked at, the oldest: overdue claims are among them, and the first that is not unwanted. */
const LOOKED_AT = 50;
/** Of what a look reads along. */
const MAX_PARAMS_BYTES = 131_072;
/**
 * A request that was pending for longer has been told of for a day, in milliseconds. Nobody wants it: it pays too little, or was signed by
 * a prankster; an alarm that stayed raised for its sake would hide the next fault.
 */
const UNWANTED_AFTER_MS = 86_400_000;

const ageOf = ({ createdAt }: StoredRequest, now: number) => Math.max(0, now - createdAt);

async function measurePending({ requests, now }: MeasureContext, chainName: string | undefined): Promise<number> {
  const filter = { status: 'pending', ...(chainName !== undefined && { chainName }) } as const;
  const { items, next } = await requests.list({
    filter,
    order: 'asc',
    limit: LOOKED_AT,
    maxParamsBytes: MAX_PARAMS_BYTES,
  });
  const ages = items.map((record) => ageOf(record, now()));
  // Behind more unwanted ones than were looked at, the last of them tells that something waits.
  return ages.find((age) => age <= UNWANTED_AFTER_MS) ?? (next === null ? 0 : (ages.at(-1) ?? 0));
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
