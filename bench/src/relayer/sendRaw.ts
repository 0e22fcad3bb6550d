import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { RelayWorld } from '@prism-gateway/testing/relay';
import { createPublicClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Transactions on the way at once. */
const IN_FLIGHT = 32;
const GAS_LIMIT = 300_000n;
const MAX_FEE = 10n ** 11n;
const TIP = 10n ** 9n;

/** What raw sending came to. */
export interface RawSending {
  /** Transactions a second, from the first signature to the last receipt. */
  readonly perSecond: number;
  /** Mean. */
  readonly gasPerCall: number;
}

/**
 * Sends calls to Anvil as fast as one account can, with nothing around it: encode, sign, send, receipt.
 *
 * @param world - chain and Forwarder
 * @param sending.key - an official relayer's
 */
export async function sendRaw(
  world: RelayWorld,
  sending: { readonly key: Hex; readonly writes: readonly ActionParams<'WRITE_DATA_FOR'>[] },
): Promise<RawSending> {
  const account = privateKeyToAccount(sending.key);
  const client = createPublicClient({ transport: http(world.devnet.rpcUrl, { batch: true }), pollingInterval: 10 });
  const { chainId, forwarder } = world.deployment;
  const startedAt = performance.now();
  let nonce = await client.getTransactionCount({ address: account.address });
  let gasUsed = 0n;
  const rest = sending.writes.values();
  async function runLane(): Promise<void> {
    // The lanes share one iterator.
    for (const params of rest) {
      const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params });
      const fees = { gas: GAS_LIMIT, maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP } as const;
      const serializedTransaction = await account.signTransaction({
        ...{ type: 'eip1559', chainId, to: forwarder, data, nonce: nonce++ },
        ...fees,
      });
      const hash = await client.sendRawTransaction({ serializedTransaction });
      const receipt = await client.waitForTransactionReceipt({ hash });
      if (receipt.status === 'reverted') throw new Error('A raw write was reverted.');
      gasUsed += receipt.gasUsed;
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, runLane));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: sending.writes.length / seconds, gasPerCall: Number(gasUsed) / sending.writes.length };
}
