import type { Action } from '../actions/action.ts';

/** One member of an EIP-712 struct. */
export interface StructField {
  readonly name: string;
  readonly type: 'uint256' | 'address' | 'bytes' | 'bytes32' | 'bytes[]' | 'bytes32[]';
}

export interface Struct {
  /** Name of the struct: the `primaryType` of the typed data. */
  readonly name: string;
  readonly fields: readonly StructField[];
}

/** The actions that a signer signs; the entries of a multi-user batch are each a `WRITE_DATA_FOR` of their own. */
export type SignedAction = Exclude<Action, 'BATCH_MULTI_USER_WRITE_DATA'>;

const cloudId = { name: 'cloudId', type: 'bytes32' } as const;
const dataId = { name: 'dataId', type: 'bytes32' } as const;
const payload = { name: 'payload', type: 'bytes' } as const;
const dataIds = { name: 'dataIds', type: 'bytes32[]' } as const;
const payloads = { name: 'payloads', type: 'bytes[]' } as const;
const newOwner = { name: 'newOwner', type: 'address' } as const;
const creation = [
  { name: 'fundAmount', type: 'uint256' },
  { name: 'relayerFundAmount', type: 'uint256' },
  { name: 'salt', type: 'bytes32' },
] as const;
/** Every struct ends in these; `nonce` is the signer's forwarder nonce. */
const tail = [
  { name: 'relayerFee', type: 'uint256' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
] as const;

/** Written short: a front-end carries it. */
function struct<const Name extends string, const Own extends readonly StructField[]>(name: Name, ...own: Own) {
  return { name, fields: [...own, ...tail] } as const;
}

/**
 * The EIP-712 struct of each action that a signer signs.
 *
 * @see docs/specification.md CHAIN-2; https://eips.ethereum.org/EIPS/eip-712
 */
export const REQUEST_STRUCTS = {
  CREATE_PRISM_FOR: /* @__PURE__ */ struct('CreatePrism', ...creation),
  WRITE_DATA_FOR: /* @__PURE__ */ struct('WriteData', cloudId, dataId, payload),
  MODIFY_DATA_FOR: /* @__PURE__ */ struct('ModifyData', cloudId, dataId, payload),
  DELETE_DATA_FOR: /* @__PURE__ */ struct('DeleteData', cloudId, dataId),
  TRANSFER_PRISM_FOR: /* @__PURE__ */ struct('TransferPrism', cloudId, newOwner),
  ACCEPT_TRANSFER_FOR: /* @__PURE__ */ struct('AcceptTransfer', cloudId),
  DELETE_PRISM_FOR: /* @__PURE__ */ struct('DeletePrism', cloudId),
  BATCH_WRITE_DATA_FOR: /* @__PURE__ */ struct('BatchWriteData', cloudId, dataIds, payloads),
  BATCH_MODIFY_DATA_FOR: /* @__PURE__ */ struct('BatchModifyData', cloudId, dataIds, payloads),
  BATCH_DELETE_DATA_FOR: /* @__PURE__ */ struct('BatchDeleteData', cloudId, dataIds),
  CREATE_PRISM_WITH_DATA_FOR: /* @__PURE__ */ struct('CreatePrismWithData', ...creation, dataIds, payloads),
} as const satisfies Record<SignedAction, Struct>;
