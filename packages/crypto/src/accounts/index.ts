export { AccountError, type AccountErrorCode } from './AccountError.ts';
export { createRecoverSigner, type RecoverSigner } from './createRecoverSigner.ts';
export type { Account } from './createSigningAccount.ts';
export { decryptKeystore } from './decryptKeystore.ts';
export { encryptKeystore } from './encryptKeystore.ts';
export { type KeySource, openAccount } from './openAccount.ts';
