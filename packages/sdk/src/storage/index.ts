export { GatewayError, type GatewayErrorCode, isGatewayError } from '../errors/gatewayError.ts';
export type { Bytes } from '../http/fetchOnce.ts';
export {
  createStorageClient,
  type GetAccessToken,
  type ObjectHead,
  type StorageClient,
  type StorageClientOptions,
  type StoredObject,
} from './createStorageClient.ts';
export {
  decryptObject,
  ENCRYPTION_OVERHEAD_BYTES,
  type EncryptionKey,
  encryptObject,
  importEncryptionKey,
  StorageError,
  type StorageErrorCode,
} from './encryption.ts';
