export { createUserClient } from './createUserClient.ts';
export { ProviderAnswerError } from './signByProvider.ts';
export {
  type Eip1193Provider,
  SignerMissingError,
  type SignerSource,
  type TypedDataAccount,
  type TypedDataWalletClient,
} from './typedDataSigner.ts';
export type { Submission, UserClient, UserClientOptions, UserVerbs } from './userClient.ts';
export type { Wish } from './wishes.ts';
