import type { RequestCrypto } from '../../ports/requestCrypto.ts';

/** The port's recovery, at once and on the thread that asks. */
export type RecoverPublicKey = (
  ...job: Parameters<RequestCrypto['recoverPublicKey']>
) => Awaited<ReturnType<RequestCrypto['recoverPublicKey']>>;
