export { deriveCloudId, SignatureFormatError } from '@prism-gateway/protocol/typed-data';
export type { ActionInput } from './actionInput.ts';
export { createUserClient } from './createUserClient.ts';
export type { Submission, UserVerbs, Verb } from './createVerbs.ts';
export type {
  Eip1193Provider,
  SignerSource,
  TypedDataAccount,
  TypedDataWalletClient,
} from './openSigner.ts';
export { signPermit } from './signPermit.ts';
export { type MultiUserBatch, submitMultiUserBatch } from './submitMultiUserBatch.ts';
export type { UserClient, UserClientOptions } from './userClient.ts';
export { WalletError, type WalletErrorCode } from './walletError.ts';
