import { setTimeout as pause } from 'node:timers/promises';
import type { PaymentsRig, RigKey } from '@prism-gateway/payments/demo';
import { encodeApproval, encodeBuy, encodePayout } from '@prism-gateway/payments/demo';
import { type Address, createPublicClient, createWalletClient, type Hash, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** The payments to make, and how. */
export interface RawOptions {
  readonly rig: PaymentsRig;
  readonly key: RigKey;
  readonly count: number;
  readonly lanes: number;
  readonly pollIntervalMs: number;
}

const AMOUNT = 1_000_000n;
const CREDITS = 1000n * 10n ** 18n;
const GAS = 150_000n;
const WALLET: Address = '0x00000000000000000000000000000000000000bb';

/**
 * Sends the two transactions of each payment with nothing around them: no journal, no checks, no frontend.
 *
 * @returns milliseconds from the first buy to the last transfer with two confirmations; the approval comes before
 */
export async function payRaw(options: RawOptions): Promise<number> {
  const { rig, key, count, lanes, pollIntervalMs } = options;
  const { exchange, creditToken, stablecoin } = rig.deployment;
  const account = privateKeyToAccount(key.privateKey);
  const client = createPublicClient({ transport: http(rig.rpcUrl) });
  const wallet = createWalletClient({ account, transport: http(rig.rpcUrl) });
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
  let nonce = 0;

  const send = (call: { to: Address; data: Hex }) =>
    wallet.sendTransaction({ ...call, nonce: nonce++, gas: GAS, maxFeePerGas, maxPriorityFeePerGas, chain: null });

  async function confirm(hash: Hash, confirmations: number): Promise<void> {
    for (;;) {
      await pause(pollIntervalMs);
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
      if (receipt === undefined) continue;
      if (receipt.status === 'reverted') throw new Error('a raw transaction was reverted');
      if (confirmations === 1) return;
      const head = await client.getBlockNumber({ cacheTime: 0 });
      if (head - receipt.blockNumber + 1n >= BigInt(confirmations)) return;
    }
  }

  await confirm(await send(encodeApproval({ token: stablecoin, spender: exchange })), 1);
  const beganAt = performance.now();
  let left = count;
  const pay = async () => {
    while (left > 0) {
      const paymentIntentId = `raw_${left--}`;
      await confirm(await send(encodeBuy({ exchange, stablecoinAmount: AMOUNT, minCredits: 1n })), 1);
      await confirm(
        await send(encodePayout({ creditToken, paymentIntentId, walletAddress: WALLET, credits: CREDITS })),
        2,
      );
    }
  };
  await Promise.all(Array.from({ length: lanes }, pay));
  return performance.now() - beganAt;
}
