export { createUserClient } from './createUserClient.ts';
export type {
  Eip1193Provider,
  SignerSource,
  TypedDataAccount,
  TypedDataWalletClient,
} from './typedDataSigner.ts';
export type { Submission, UserClient, UserClientOptions, UserVerbs } from './userClient.ts';
export { WalletError, type WalletErrorCode } from './walletError.ts';
export type { Wish } from './wishes.ts';
