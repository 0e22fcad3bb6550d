export type { Account } from './account.ts';
export { AccountError, type AccountErrorCode } from './account.ts';
export { createRecoverSigner, type RecoverSigner } from './createRecoverSigner.ts';
export { decryptKeystore, encryptKeystore } from './keystore.ts';
export { type KeySource, openAccount } from './openAccount.ts';
