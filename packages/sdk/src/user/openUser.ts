import { createNonceManager, type NonceManager } from './nonceManager.ts';
import { readForwarderNonce } from './readForwarderNonce.ts';
import { openSigner, type TypedDataSigner } from './typedDataSigner.ts';
import type { UserClientOptions } from './userClient.ts';

/** The Forwarder's own default: one day. */
const DEFAULT_MAX_AGE_SECONDS = 86_400;
/** About as long as a person takes between two devices. */
const DEFAULT_NONCE_TRUST_MS = 30_000;

/** A user's wallet, opened. */
export interface OpenUser {
  readonly signer: TypedDataSigner;
  readonly nonces: NonceManager;
}

async function openUser(options: UserClientOptions): Promise<OpenUser> {
  const { gateway, chainName, domain } = options;
  const signer = await openSigner(options);
  const nonces = createNonceManager({
    gateway,
    signer: signer.address,
    chainName,
    domain,
    readNonce:
      'readNonce' in options ? options.readNonce : readForwarderNonce.bind(undefined, options.publicClient, domain),
    maxAgeSeconds: options.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS,
    signatures: options.signatures ?? 'ecdsa',
    trustMs: options.nonceTrustMs ?? DEFAULT_NONCE_TRUST_MS,
  });
  return { signer, nonces };
}

/** Makes a function that opens the wallet when it is first needed; a refusal is not kept, so that the user may be asked again. */
export function createOpener(options: UserClientOptions): () => Promise<OpenUser> {
  let opened: Promise<OpenUser> | undefined;
  return () => {
    opened ??= openUser(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
