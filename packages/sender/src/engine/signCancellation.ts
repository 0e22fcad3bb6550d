import type { Fees } from '../fees/feePolicy.ts';
import type { TxVersion } from '../intents/intent.ts';
import type { Engine } from './engine.ts';
import { signVersion } from './signVersion.ts';

/**
 * Signs a transfer of nothing to oneself, which does nothing but consume an account nonce; nothing is stored or sent.
 *
 * @param engine - with account and chain
 * @param cancelled - the nonce, whose intent it is if any, and what gas costs
 * @returns the signed version
 * @throws SenderError `SIGNING_FAILED`
 */
export async function signCancellation(
  engine: Engine,
  cancelled: {
    readonly intentId: string | undefined;
    readonly nonce: number;
    readonly fees: Fees;
    readonly gasLimit: bigint;
  },
): Promise<TxVersion> {
  const call = { to: engine.account.address, data: '0x', value: 0n } as const;
  return await signVersion(engine, { ...cancelled, kind: 'cancel', call });
}
