export { encryptKey } from './encryptKey.ts';
export { type KmsServer, startKmsServer } from './startKmsServer.ts';
