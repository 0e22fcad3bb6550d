import type { RelayerWireRecord } from '@prism-gateway/protocol';
import { formatTime } from '../../formatTime.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';

/** Writes a whitelist record as the wire has it. */
export function renderRelayer({ address, label, createdAt, updatedAt }: RelayerRecord): RelayerWireRecord {
  const times = { createdAt: formatTime(createdAt), updatedAt: formatTime(updatedAt) };
  return label === undefined ? { address, ...times } : { address, label, ...times };
}
