import { untilAborted } from '../http/untilAborted.ts';
import { isSignedByContract, readForwarderNonce } from './chainReader.ts';
import { createNonceManager, type NonceManager } from './createNonceManager.ts';
import type { SignatureCheck } from './createNonceSearch.ts';
import { isSignedBy } from './isSignedBy.ts';
import { openSigner, type TypedDataSigner } from './openSigner.ts';
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

/** Some 4 ms each: a quarter of a second. */
const MOST_RECOVERIES = 64;
/** Each asks a node, over the network. */
const MOST_CALLS = 16;

/** Without a chain to ask, no record shows that a contract wallet has signed it: anybody may have posted it. */
function chooseCheck(options: UserClientOptions, signer: string): Omit<SignatureCheck, 'domain'> {
  if (options.signatures !== 'erc1271') {
    return { isSigned: (request) => isSignedBy(signer, request), mostChecks: MOST_RECOVERIES };
  }
  if (!('publicClient' in options)) return { isSigned: async () => false, mostChecks: 0 };
  return { isSigned: (request) => isSignedByContract(options.publicClient, signer, request), mostChecks: MOST_CALLS };
}

async function openUser(options: UserClientOptions): Promise<OpenUser> {
  const signer = await openSigner(options);
  const nonces = createNonceManager({
    ...options,
    signer: signer.address,
    readNonce:
      'readNonce' in options
        ? options.readNonce
        : readForwarderNonce.bind(undefined, options.publicClient, options.domain),
    maxAgeSeconds: options.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS,
    ...chooseCheck(options, signer.address),
    trustMs: options.nonceTrustMs ?? DEFAULT_NONCE_TRUST_MS,
  });
  return { signer, nonces };
}

/**
 * Makes a function that opens the wallet when it is first needed; a refusal is not kept, so that the user may be asked again.
 *
 * @throws GatewayError ABORTED; the wallet's answer is awaited all the same, for whoever asks next
 */
export function createOpener(options: UserClientOptions): (signal?: AbortSignal) => Promise<OpenUser> {
  let opened: Promise<OpenUser> | undefined;
  return (signal) => {
    opened ??= openUser(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return untilAborted('Opening the wallet', opened, signal);
  };
}
