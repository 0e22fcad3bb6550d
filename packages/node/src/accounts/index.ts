export { type Account, AccountError } from './account.ts';
export { createRecoverSigner, type RecoverSigner } from './createRecoverSigner.ts';
export { openAccount } from './openAccount.ts';
