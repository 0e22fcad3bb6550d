export { AccountError, type AccountErrorCode } from './AccountError.ts';
export { createRecoverSigner, type RecoverSigner } from './createRecoverSigner.ts';
export { decryptKeystore } from './decryptKeystore.ts';
export { type Account, type KeySource, openAccount } from './openAccount.ts';
