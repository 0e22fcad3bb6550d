export {
  createTypedData,
  hashRequest,
  type RequestTypedData,
  type TypedDataSource,
  type UnsignedParams,
} from './createTypedData.ts';
export { deriveCloudId } from './deriveCloudId.ts';
export { createForwarderDomain, type ForwarderDomain, type ForwarderLocation, hashForwarderDomain } from './domain.ts';
export { createMultiUserBatchParams, type WriteEntry } from './multiUserBatch.ts';
export {
  createPermit,
  createPermitTypedData,
  type Permit,
  type PermitSource,
  type PermitTypedData,
} from './permit.ts';
export { recoverRequestSigner, type SignedRequest } from './recoverRequestSigner.ts';
export {
  createSignedParams,
  joinSignature,
  SignatureFormatError,
  type SplitSignature,
  splitSignature,
} from './signature.ts';
export { REQUEST_STRUCTS, type SignedAction, type Struct, type StructField } from './structs.ts';
