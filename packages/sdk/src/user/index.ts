export { deriveCloudId, SignatureFormatError } from '@prism-gateway/protocol/typed-data';
export type { ActionInput } from './actionInput.ts';
export { createUserClient } from './createUserClient.ts';
export type { Submission, UserVerbs, Verb } from './createVerbs.ts';
export {
  type Eip1193Provider,
  type SignerSource,
  type TypedDataAccount,
  type TypedDataWalletClient,
  WalletError,
  type WalletErrorCode,
} from './openSigner.ts';
export { signPermit } from './signPermit.ts';
export { type MultiUserBatch, submitMultiUserBatch } from './submitMultiUserBatch.ts';
export type { UserClient, UserClientOptions } from './userClient.ts';
