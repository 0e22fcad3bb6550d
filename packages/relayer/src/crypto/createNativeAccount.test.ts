import type { UnsignedTransaction } from '@prism-gateway/sender';
import { parseTransaction, verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { createNativeAccount } from './createNativeAccount.ts';
import { loadSecp256k1 } from './loadSecp256k1.ts';

const privateKey = `0x${'33'.repeat(32)}` as const;
const reference = privateKeyToAccount(privateKey);
const secp256k1 = loadSecp256k1();

test.skipIf(secp256k1 === undefined)('it signs the same bytes as viem does', async () => {
  // Skipped without it.
  const account = createNativeAccount({ address: reference.address, privateKey, secp256k1: secp256k1! });
  for (let index = 0; index < 20; index += 1) {
    const message = `Service Relayer Auth ${index}`;
    const signature = await account.signMessage({ message });
    expect(signature).toBe(await reference.signMessage({ message }));
    expect(await verifyMessage({ address: reference.address, message, signature: signature as `0x${string}` })).toBe(
      true,
    );
    const transaction: UnsignedTransaction = {
      type: 'eip1559',
      chainId: 31_337,
      nonce: index,
      to: reference.address,
      data: '0xabcd',
      value: 0n,
      gas: 21_000n,
      maxFeePerGas: 5n,
      maxPriorityFeePerGas: 1n,
    };
    const raw = await account.signTransaction(transaction);
    expect(raw).toBe(await reference.signTransaction(transaction));
    expect(parseTransaction(raw as `0x02${string}`).nonce ?? 0).toBe(index);
  }
});
