import { randomBytes, randomUUID } from 'node:crypto';
import type { ListFilters } from '@prism-gateway/protocol';
import type { Claim, Report, RequestFilter, StoredRequest } from '../../src/ports/requestStore.ts';

/** A time in 2027, in milliseconds since the epoch: contracts count from it, and never look at the clock. */
export const START = 1_800_000_000_000;

/** A random address of mixed letter case. */
export function anyAddress(): string {
  const digits = randomBytes(20).toString('hex');
  return `0x${digits.slice(0, 20).toUpperCase()}${digits.slice(20)}`;
}

/** A name of a chain that no other test uses. */
export const anyChain = () => `eip155:${randomBytes(6).toString('hex')}`;

/** Bounds of a batch that leave nothing out. */
export const ALL = { maxParamsBytes: 1_000_000 } as const;

export const anyTxHash = () => `0x${randomBytes(32).toString('hex')}`;

/** Makes a new `pending` record; what is not given is random, `createdAt` is `START`. */
export function pendingRequest(fields: Partial<StoredRequest> = {}): StoredRequest {
  const signer = fields.signer ?? anyAddress();
  const createdAt = fields.createdAt ?? START;
  return {
    requestId: randomUUID(),
    chainName: anyChain(),
    action: 'WRITE_DATA_FOR',
    signer,
    status: 'pending',
    paramsJson: JSON.stringify({ cloudId: '0x01', payload: '0x', signer }),
    createdAt,
    updatedAt: createdAt,
    ...fields,
  };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** What each filter of a list means. */
const MEANS: Readonly<Record<keyof ListFilters, (record: StoredRequest, value: string) => boolean>> = {
  signer: ({ signer }, value) => isSame(signer, value),
  status: ({ status }, value) => status === value,
  chainName: ({ chainName }, value) => chainName === value,
};

/** Whether a record belongs to a list; no claim has lapsed. */
export function isListed(record: StoredRequest, filter: Omit<RequestFilter, 'txHash'>): boolean {
  return Object.entries(MEANS).every(([name, means]) => {
    const value = filter[name as keyof ListFilters];
    return value === undefined || means(record, value);
  });
}

/** Makes every filter of one condition and more out of one that has all. */
export function subsetsOf(all: Required<ListFilters>): ListFilters[] {
  const entries = Object.entries(all);
  const chosen = Array.from({ length: 2 ** entries.length - 1 }, (_, i) => i + 1);
  return chosen.map((bits) => Object.fromEntries(entries.filter((_, place) => bits & (1 << place))));
}

/** Makes a claim; what is not given is random, `now` is a second after `START`. */
export function claimOf({ requestId }: Pick<StoredRequest, 'requestId'>, fields: Partial<Claim> = {}): Claim {
  return { requestId, relayer: anyAddress(), claimId: randomUUID(), now: START + 1000, ...fields };
}

/** Makes a report of success; what is not given is random, `now` is two seconds after `START`. */
export function reportOf(
  { requestId }: Pick<StoredRequest, 'requestId'>,
  fields: Partial<Report> & Pick<Report, 'relayer'>,
): Report {
  const outcome = { status: 'success', txHash: anyTxHash() } as const;
  return { requestId, reportId: randomUUID(), now: START + 2000, outcome, ...fields };
}

/** The record that a won claim leaves. */
export function claimedRecord(record: StoredRequest, { relayer, now }: Claim): StoredRequest {
  return { ...record, status: 'processing', claimedBy: relayer, claimedAt: now, updatedAt: now };
}
