import { type Address, type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import type { Fees } from '../fees/fees.ts';
import type { TxVersion } from '../intents/intent.ts';
import type { UnsignedTransaction } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import type { Engine } from './engine.ts';

/** A signer that is set up wrong would spoil every nonce that it signs for; its first signature is looked at. */
async function verifyFirst(engine: Engine, { raw, asked }: { raw: Hex; asked: UnsignedTransaction }): Promise<void> {
  if (engine.isSignerVerified) return;
  // Whatever is not an EIP-1559 transaction is refused by what follows.
  const serialized = raw as `0x02${string}`;
  const signer = await recoverTransactionAddress({ serializedTransaction: serialized });
  const { nonce, chainId } = parseTransaction(serialized);
  const isRight = signer.toLowerCase() === engine.account.address.toLowerCase() && chainId === asked.chainId;
  if (!isRight || (nonce ?? 0) !== asked.nonce) {
    throw new Error('the account signed for another address, chain or nonce');
  }
  engine.isSignerVerified = true;
}

/**
 * Signs a transaction; nothing is stored or sent.
 *
 * @throws SenderError `SIGNING_FAILED`
 * @see https://eips.ethereum.org/EIPS/eip-1559
 */
export async function signVersion(
  engine: Engine,
  draft: {
    readonly intentId: string | undefined;
    readonly nonce: number;
    readonly kind: TxVersion['kind'];
    readonly call: { readonly to: Address; readonly data: Hex; readonly value: bigint };
    readonly gasLimit: bigint;
    readonly fees: Fees;
  },
): Promise<TxVersion> {
  const { intentId, nonce, kind, call, gasLimit, fees } = draft;
  const asked: UnsignedTransaction = {
    type: 'eip1559',
    chainId: engine.settings.chainId,
    nonce,
    ...call,
    gas: gasLimit,
    ...fees,
  };
  try {
    const raw = await engine.account.signTransaction(asked);
    await verifyFirst(engine, { raw, asked });
    const createdAtMs = engine.now();
    return {
      hash: keccak256(raw),
      ...(intentId === undefined ? {} : { intentId }),
      nonce,
      kind,
      raw,
      gasLimit,
      ...fees,
      createdAtMs,
    };
  } catch (error) {
    throw new SenderError('SIGNING_FAILED', 'The account did not sign; look at the cause.', { cause: error });
  }
}

/**
 * Signs a transfer of nothing to oneself, which does nothing but consume an account nonce; nothing is stored or sent.
 *
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
