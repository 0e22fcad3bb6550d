import { setTimeout as pause } from 'node:timers/promises';
import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { World } from '@prism-gateway/testing/world';
import { createPublicClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Calls to the node under way at once. */
const LANES = 32;
/** How often the account's nonce is looked at for the last block, in milliseconds. */
const POLL_INTERVAL_MS = 5;
const TIMEOUT_MS = 180_000;
const GAS_LIMIT = 300_000n;
const MAX_FEE = 10n ** 11n;
const TIP = 10n ** 9n;

/** The result of raw sending. */
export interface RawSending {
  /** Transactions a second, from the first signature to the last block. */
  readonly perSecond: number;
  /** Mean. */
  readonly gasPerCall: number;
}

/** Does something for each of a list, some at once. */
async function runLanes<T>(list: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = list.values();
  async function runLane(): Promise<void> {
    // The lanes share one iterator.
    for (const item of rest) await act(item);
  }
  await Promise.all(Array.from({ length: LANES }, runLane));
}

/**
 * Sends calls to Anvil as fast as one account can, with nothing around it: encode, sign, send; no receipts, no checks.
 *
 * @param world - chain and Forwarder
 * @param sending.key - an official relayer's
 * @throws Error if one was reverted
 */
export async function sendRaw(
  world: World,
  sending: { readonly key: Hex; readonly writes: readonly ActionParams<'WRITE_DATA_FOR'>[] },
): Promise<RawSending> {
  const account = privateKeyToAccount(sending.key);
  const { address } = account;
  const client = createPublicClient({ transport: http(world.devnet.rpcUrl) });
  const { chainId, forwarder } = world.deployment;
  const hashes: Hex[] = [];
  const startedAt = performance.now();
  let nonce = await client.getTransactionCount({ address });
  const last = nonce + sending.writes.length;
  await runLanes(sending.writes, async (params) => {
    const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params });
    const fees = { gas: GAS_LIMIT, maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP } as const;
    const call = { type: 'eip1559', chainId, to: forwarder, data, nonce: nonce++ } as const;
    const serializedTransaction = await account.signTransaction({ ...call, ...fees });
    hashes.push(await client.sendRawTransaction({ serializedTransaction }));
  });
  for (let mined = 0; mined < last; mined = await client.getTransactionCount({ address })) {
    if (performance.now() - startedAt > TIMEOUT_MS)
      throw new Error(`Anvil has mined ${mined} transactions of ${last}.`);
    await pause(POLL_INTERVAL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  let gasUsed = 0n;
  await runLanes(hashes, async (hash) => {
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.status === 'reverted') throw new Error('A raw write was reverted.');
    gasUsed += receipt.gasUsed;
  });
  return { perSecond: hashes.length / seconds, gasPerCall: Number(gasUsed) / hashes.length };
}
