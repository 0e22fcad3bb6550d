import type { RelayerRecord } from '../../ports/relayerStore.ts';
import type { BatchTransition, ClaimTransition } from '../../ports/requestStore.ts';
import type { Row } from './sqlWrite.ts';

/** Names of the stores, as the settings give them. */
export interface TableNames {
  readonly requests: string;
  readonly relayers: string;
  readonly rateLimits: string;
}

/** Writes what became of one move as a batch answers it: without params, which may be large, and which the caller knows. */
export function inBatch(transition: ClaimTransition): BatchTransition {
  const { outcome } = transition;
  if (outcome === 'missing') return transition;
  const { paramsJson: _, ...record } = transition.record;
  return outcome === 'moved' ? { outcome, record } : { outcome, status: record.status };
}

/** How text that people write stands in a column: PostgreSQL's holds no NUL. */
export interface TextForm {
  readonly write: (text: string) => string;
  readonly read: (text: string) => string;
}

/** Reads a whitelisted relayer. */
export function relayerOfRow(row: Row, { read }: TextForm): RelayerRecord {
  const { address, label, suspended_at: suspendedAt, suspend_reason: reason } = row;
  return {
    address: String(address),
    ...(typeof label === 'string' && { label: read(label) }),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(typeof suspendedAt === 'number' && { suspendedAt, suspendReason: read(String(reason)) }),
  };
}
