import type { Action, ActionParams } from '@prism-gateway/protocol';
import type { Abi, Address, Hex } from 'viem';
import { encodeFunctionData, getAddress, padHex, toFunctionSelector } from 'viem/utils';
import { forwarderAbi } from './generated/forwarderAbi.ts';

/** The Forwarder's function of each action. */
export const FORWARDER_FUNCTIONS = {
  CREATE_PRISM_FOR: 'createPrismFor',
  CREATE_PRISM_WITH_DATA_FOR: 'createPrismWithDataFor',
  WRITE_DATA_FOR: 'writeDataFor',
  MODIFY_DATA_FOR: 'modifyDataFor',
  DELETE_DATA_FOR: 'deleteDataFor',
  TRANSFER_PRISM_FOR: 'transferPrismFor',
  ACCEPT_TRANSFER_FOR: 'acceptTransferFor',
  DELETE_PRISM_FOR: 'deletePrismFor',
  BATCH_WRITE_DATA_FOR: 'batchWriteDataFor',
  BATCH_MODIFY_DATA_FOR: 'batchModifyDataFor',
  BATCH_DELETE_DATA_FOR: 'batchDeleteDataFor',
  BATCH_MULTI_USER_WRITE_DATA: 'batchMultiUserWriteData',
} as const satisfies Record<Action, string>;

export type ForwarderFunction = (typeof FORWARDER_FUNCTIONS)[Action];

/** A request as the gateway stores it; its other fields may be there. */
export interface ForwarderCallSource<A extends Action = Action> {
  readonly action: A;
  /** As they cross the wire, valid by the action's schema. */
  readonly params: ActionParams<A>;
}

/** A call of the Forwarder. */
export interface ForwarderCall {
  readonly functionName: ForwarderFunction;
  /** The function's `args`, as viem takes them. */
  readonly args: readonly unknown[];
  /** The calldata. */
  readonly data: Hex;
}

type Signed = Pick<ActionParams<'WRITE_DATA_FOR'>, 'signer' | 'relayerFee' | 'timestamp' | 'v' | 'r' | 's'>;
type CreationParams = ActionParams<'CREATE_PRISM_FOR'>;

const zeroWord = padHex('0x', { size: 32 });
const noPermit = { deadline: 0n, v: 0, r: zeroWord, s: zeroWord };

// The params' schemas vouch for the casts to Hex below: `0x` and whole bytes.
const readId = (id: string): Hex => padHex(id as Hex, { size: 32 });
const readIds = (ids: readonly string[]): readonly Hex[] => ids.map(readId);
const readBytes = (bytes: string): Hex => bytes as Hex;
// The wire compares addresses without regard to case; viem refuses a checksum that is wrong.
const readAddress = (address: string): Address => getAddress(address.toLowerCase());

function readAuthorization({ signer, relayerFee, timestamp, v, r, s }: Signed) {
  return {
    signer: readAddress(signer),
    relayerFee: BigInt(relayerFee),
    timestamp: BigInt(timestamp),
    v,
    r: readBytes(r),
    s: readBytes(s),
  };
}

function readPermit(permit: CreationParams['permit']) {
  if (permit === undefined) return noPermit;
  return { deadline: BigInt(permit.deadline), v: permit.v, r: readBytes(permit.r), s: readBytes(permit.s) };
}

function readCreation({ fundAmount, relayerFundAmount, salt, permit }: CreationParams) {
  return {
    fundAmount: BigInt(fundAmount),
    relayerFundAmount: BigInt(relayerFundAmount ?? '0'),
    salt: readId(salt),
    permit: readPermit(permit),
  };
}

function readEntry(entry: ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>['requests'][number]) {
  const { cloudId, dataId, payload } = entry;
  return {
    cloudId: readId(cloudId),
    dataId: readId(dataId),
    payload: readBytes(payload),
    auth: readAuthorization(entry),
  };
}

type Readers = { readonly [A in Action]: (params: ActionParams<A>) => readonly unknown[] };

const readWrite = (params: ActionParams<'WRITE_DATA_FOR'>) => [
  readId(params.cloudId),
  readId(params.dataId),
  readBytes(params.payload),
  readAuthorization(params),
];
const readPrism = (params: ActionParams<'DELETE_PRISM_FOR'>) => [readId(params.cloudId), readAuthorization(params)];
const readBatch = (params: ActionParams<'BATCH_WRITE_DATA_FOR'>) => [
  readId(params.cloudId),
  readIds(params.dataIds),
  params.payloads.map(readBytes),
  readAuthorization(params),
];

/** Turns the params of each action into the arguments of its function. */
const readers: Readers = {
  CREATE_PRISM_FOR: (params) => [readCreation(params), readAuthorization(params)],
  CREATE_PRISM_WITH_DATA_FOR: (params) => [
    readCreation(params),
    readIds(params.dataIds),
    params.payloads.map(readBytes),
    readAuthorization(params),
  ],
  WRITE_DATA_FOR: readWrite,
  MODIFY_DATA_FOR: readWrite,
  DELETE_DATA_FOR: (params) => [readId(params.cloudId), readId(params.dataId), readAuthorization(params)],
  TRANSFER_PRISM_FOR: (params) => [readId(params.cloudId), readAddress(params.newOwner), readAuthorization(params)],
  ACCEPT_TRANSFER_FOR: readPrism,
  DELETE_PRISM_FOR: readPrism,
  BATCH_WRITE_DATA_FOR: readBatch,
  BATCH_MODIFY_DATA_FOR: readBatch,
  BATCH_DELETE_DATA_FOR: (params) => [readId(params.cloudId), readIds(params.dataIds), readAuthorization(params)],
  BATCH_MULTI_USER_WRITE_DATA: (params) => [params.requests.map(readEntry)],
};

/** Functions by name, with their selectors, which take longer to compute than arguments to encode. */
const functions: ReadonlyMap<string, { readonly abi: Abi; readonly functionName: string }> = new Map(
  forwarderAbi.flatMap((item) =>
    item.type === 'function' ? [[item.name, { abi: [item], functionName: toFunctionSelector(item) }] as const] : [],
  ),
);

/**
 * Makes the call of the Forwarder that carries out a request: what a relayer submits.
 *
 * @param source - action and params as the gateway stores them
 * @returns function, arguments and calldata; ids left-padded to 32 bytes, an absent permit as zeros
 * @see docs/specification.md CHAIN-8
 * @example
 * const { data } = encodeForwarderCall(request);
 * await sender.send(request.requestId, { to: forwarder, data });
 */
export function encodeForwarderCall<A extends Action>(source: ForwarderCallSource<A>): ForwarderCall {
  const functionName: ForwarderFunction = FORWARDER_FUNCTIONS[source.action];
  const args = readers[source.action](source.params);
  // The reader of the action gives what its function takes; a union of twelve is more than the ABI's own types follow.
  const data = encodeFunctionData({ abi: forwarderAbi as Abi, functionName, ...functions.get(functionName), args });
  return { functionName, args, data };
}
