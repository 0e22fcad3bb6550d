import { ACTIONS, type Action } from '@prism-gateway/protocol';
import type { Address, Hex, Log } from 'viem';
import { getAddress, keccak256, parseEventLogs, toHex } from 'viem/utils';
import { forwarderAbi } from './generated/forwarderAbi.ts';

/** What the Forwarder says became of one request. */
export interface RequestExecuted {
  readonly signer: Address;
  /** The signer's forwarder nonce that the request ran with; where it failed, the one that still stands. */
  readonly nonce: bigint;
  /** `WRITE_DATA_FOR` for an entry of a multi-user batch. */
  readonly action: Action | undefined;
  readonly success: boolean;
  readonly relayer: Address;
  /** Credits in base units that the prism paid, before the split; 0 where it failed. */
  readonly relayerFee: bigint;
  /** The ABI-encoded custom error of a failed entry; `0x` otherwise. */
  readonly reason: Hex;
  readonly logIndex: number | null;
}

/** keccak-256 of an action's name, as the Forwarder's event carries it. */
export function hashAction(action: Action): Hex {
  return keccak256(toHex(action));
}

const actions: ReadonlyMap<string, Action> = new Map(ACTIONS.map((action) => [hashAction(action), action]));

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
  const forwarder = getAddress(source.forwarder.toLowerCase());
  return parseEventLogs({ abi: forwarderAbi, eventName: 'RequestExecuted', logs: [...source.logs] })
    .filter(({ address }) => getAddress(address) === forwarder)
    .map(({ args, logIndex }) => ({ ...args, action: actions.get(args.action), logIndex }));
}
