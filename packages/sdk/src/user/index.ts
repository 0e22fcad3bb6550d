export { deriveCloudId, SignatureFormatError } from '@prism-gateway/protocol/typed-data';
export { createUserClient } from './createUserClient.ts';
export { signPermit } from './signPermit.ts';
export type { Submission } from './submission.ts';
export { type MultiUserBatch, submitMultiUserBatch } from './submitMultiUserBatch.ts';
export type {
  Eip1193Provider,
  SignerSource,
  TypedDataAccount,
  TypedDataWalletClient,
} from './typedDataSigner.ts';
export type { UserClient, UserClientOptions } from './userClient.ts';
export type { UserVerbs, Verb } from './verbs.ts';
export { WalletError, type WalletErrorCode } from './walletError.ts';
export type { Wish } from './wishes.ts';
