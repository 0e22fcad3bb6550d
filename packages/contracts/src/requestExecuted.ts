import type { Address, Hex, Log } from 'viem';
import { parseEventLogs, toEventSelector } from 'viem/utils';
import { forwarderAbi } from './generated/forwarderAbi.ts';

/** The Forwarder's result of one request. */
export interface RequestExecuted {
  /** EIP-712 digest of the request. Together with the signer it identifies the request it was. */
  readonly digest: Hex;
  readonly signer: Address;
  /** The signer's forwarder nonce that the request ran with; if it was refused, the one that still stands. */
  readonly nonce: bigint;
  /** Whether it was carried out; only an entry of a multi-user batch can have been refused. */
  readonly success: boolean;
  readonly relayer: Address;
  /** Credits in base units that the prism paid, before the split; 0 if it was refused. */
  readonly relayerFee: bigint;
  /** The ABI-encoded custom error of a refused entry; `0x` otherwise. */
  readonly reason: Hex;
  readonly logIndex: number | null;
}

const events = forwarderAbi.filter(
  (item) => item.type === 'event' && (item.name === 'RequestExecuted' || item.name === 'RequestRefused'),
);
/** Of the logs of a block hardly any is one: the others are not decoded. */
const topics: ReadonlySet<Hex | undefined> = new Set(events.map(toEventSelector));

/**
 * Reads the Forwarder's own events from a transaction's logs: one a request, in the order of a batch's entries.
 *
 * @param source.logs - of any contracts
 * @param source.forwarder - whose word counts; events of others are left out
 * @see docs/specification.md CHAIN-12
 */
export function readRequestExecuted(source: {
  readonly logs: readonly Log[];
  readonly forwarder: string;
}): readonly RequestExecuted[] {
  const forwarder = source.forwarder.toLowerCase();
  const logs = source.logs.filter((log) => topics.has(log.topics[0]) && log.address.toLowerCase() === forwarder);
  if (logs.length === 0) return [];
  return parseEventLogs({ abi: events, logs }).map(({ args, eventName, logIndex }) => {
    const success = eventName === 'RequestExecuted';
    return { relayerFee: 0n, reason: '0x' as const, ...args, success, logIndex };
  });
}
