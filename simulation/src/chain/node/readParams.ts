/** Readers of what callers send, with geth's words for what cannot be read. */
import type { Address, Hash, Hex } from 'viem';
import { keyOf, type Message, toBytes } from '../evm/createExecutor.ts';
import { failParams, failServer } from '../RpcFailure.ts';
import type { BlockRecord } from '../records.ts';
import type { Session } from '../state/createSession.ts';
import type { NodePorts, NodeView, Params } from './ports.ts';

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]*)$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;
/** How many blocks the `finalized` one is behind the newest. */
const FINALITY_DEPTH = 64;

function invalid(place: number, words: string) {
  return failParams(`invalid argument ${place}: ${words}`);
}

/** @throws RpcFailure */
export function need(params: Params, place: number): unknown {
  const value = params[place];
  if (value === undefined) throw failParams(`missing value for required argument ${place}`);
  return value;
}

export function readAddress(params: Params, place: number): Address {
  const value = need(params, place);
  if (typeof value !== 'string')
    throw invalid(place, 'json: cannot unmarshal non-string into Go value of type common.Address');
  if (!BYTES.test(value) || value.length !== 42) {
    throw invalid(place, `hex string has length ${Math.max(0, value.length - 2)}, want 40 for common.Address`);
  }
  return value.toLowerCase() as Address;
}

export function readHash(params: Params, place: number): Hash {
  const value = need(params, place);
  if (typeof value !== 'string' || !BYTES.test(value) || value.length !== 66) {
    throw invalid(place, `hex string has length ${Math.max(0, `${value}`.length - 2)}, want 64 for common.Hash`);
  }
  return value.toLowerCase() as Hash;
}

export function readBytes(value: unknown, place: number): Hex {
  if (typeof value !== 'string' || !BYTES.test(value)) {
    throw invalid(place, 'json: cannot unmarshal invalid hex string into Go value of type hexutil.Bytes');
  }
  return value.toLowerCase() as Hex;
}

export function readQuantity(value: unknown, place: number): bigint {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'string' || !QUANTITY.test(value)) {
    throw invalid(place, 'json: cannot unmarshal hex string without 0x prefix or with leading zero digits');
  }
  return BigInt(value);
}

/** The block that a caller names. */
type BlockChoice = { readonly block: BlockRecord | undefined; readonly isPending: boolean };

/** A block whose state the node has. */
export type At = BlockChoice & { readonly block: BlockRecord };

/** @returns the block on the node's branch; undefined if it has none */
export function chooseBlock({ branches }: NodePorts, { head }: NodeView, tag: unknown, place = 0): BlockChoice {
  const at = (number: number): BlockChoice => ({ block: branches.blockAt(head, number), isPending: false });
  if (tag === undefined || tag === null || tag === 'latest') return { block: head, isPending: false };
  if (tag === 'pending') return { block: head, isPending: true };
  if (tag === 'earliest') return at(0);
  if (tag === 'finalized') return at(Math.max(0, head.number - FINALITY_DEPTH));
  // As the beacon chain has it: an epoch nearer.
  if (tag === 'safe') return at(Math.max(0, head.number - Math.ceil(FINALITY_DEPTH / 2)));
  if (typeof tag === 'object') {
    const { blockHash, blockNumber } = tag as { blockHash?: unknown; blockNumber?: unknown };
    if (typeof blockHash !== 'string') return at(Number(readQuantity(blockNumber, place)));
    const block = branches.byHash(blockHash.toLowerCase() as Hash);
    return { block: block && block.number <= head.number ? block : undefined, isPending: false };
  }
  return at(Number(readQuantity(tag, place)));
}

/** The block whose state is asked for. @throws RpcFailure */
export function chooseState(ports: NodePorts, view: NodeView, tag: unknown, place: number): At {
  const { block, isPending } = chooseBlock(ports, view, tag, place);
  if (block === undefined) throw failServer('header not found');
  if (view.head.number - block.number >= view.faults.stateDepth) {
    throw failServer(`missing trie node ${block.stateRoot.slice(2)} (path ) state ${block.stateRoot} is not available`);
  }
  return { block, isPending };
}

/** A call as it is asked for; what is undefined was left out. */
export interface CallRequest extends Omit<Message, 'gasLimit' | 'gasPrice'> {
  readonly gas: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
}

const NOBODY: Address = '0x0000000000000000000000000000000000000000';

/** @throws RpcFailure */
export function readCall(value: unknown, place: number): CallRequest {
  if (typeof value !== 'object' || value === null)
    throw invalid(place, 'json: cannot unmarshal into Go value of type ethapi.TransactionArgs');
  const call = value as Record<string, unknown>;
  const quantity = (field: unknown) => (field === undefined || field === null ? undefined : readQuantity(field, place));
  const address = (field: unknown) => (field === undefined || field === null ? undefined : readAddress([field], 0));
  const gasPrice = quantity(call.gasPrice);
  const list = Array.isArray(call.accessList) ? call.accessList : [];
  return {
    from: address(call.from) ?? NOBODY,
    to: address(call.to),
    data: toBytes(readBytes(call.input ?? call.data ?? '0x', place)),
    value: quantity(call.value) ?? 0n,
    gas: quantity(call.gas),
    nonce: quantity(call.nonce),
    maxFeePerGas: gasPrice ?? quantity(call.maxFeePerGas),
    maxPriorityFeePerGas: gasPrice ?? quantity(call.maxPriorityFeePerGas),
    accessList: list.map(({ address: owner, storageKeys }) => ({ address: readAddress([owner], 0), storageKeys })),
    // A call cannot make anybody sign.
    authorizations: [],
  };
}

/** Applies what a caller wants accounts to be. @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/objects#state-override-set */
export function applyStateOverrides(
  session: Session,
  overrides: unknown,
  keccak256: (bytes: Uint8Array) => Uint8Array,
): void {
  if (typeof overrides !== 'object' || overrides === null) return;
  for (const [owner, wished] of Object.entries(overrides)) {
    const key = keyOf(readAddress([owner], 0));
    const { balance, nonce, code, state, stateDiff } = wished as Record<string, unknown>;
    const before = session.account(key);
    const bytes = code === undefined ? before?.code : toBytes(readBytes(code, 2));
    const now = bytes ?? new Uint8Array(0);
    session.setAccount(key, {
      balance: balance === undefined ? (before?.balance ?? 0n) : readQuantity(balance, 2),
      nonce: nonce === undefined ? (before?.nonce ?? 0n) : readQuantity(nonce, 2),
      code: now,
      codeHash: keccak256(now),
    });
    if (state !== undefined) session.clearSlots(key);
    for (const [slot, word] of Object.entries(Object(state ?? stateDiff))) {
      session.setSlot(key, keyOf(slot as Hex), strip(toBytes(readBytes(word, 2))));
    }
  }
}

/** Without zeros before it, as the EVM keeps it. */
function strip(word: Uint8Array): Uint8Array {
  const first = word.findIndex((byte) => byte !== 0);
  return first < 0 ? new Uint8Array(0) : word.subarray(first);
}
