import { encodeForwarderCall, forwarderAbi } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { World } from '@prism-gateway/testing/world';
import {
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  numberToHex,
  parseGwei,
  publicActions,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Attack } from './planAttacks.ts';
import { BURNER } from './walletCode.ts';

/** The attackers' tip, to come first in a block. */
const ATTACKERS_TIP = parseGwei('50');
const POLL_MS = 10;

interface PendingBlock {
  readonly transactions: readonly { readonly from: Hex; readonly input: Hex; readonly hash: Hex }[];
}

/** Attackers who look at what waits for a block, and act before it comes. */
export interface Tricksters {
  readonly played: () => number;
  stop(): Promise<void>;
}

/**
 * Starts attackers that watch the transactions of a relayer.
 *
 * @param relayer - its address
 * @param attacks - those with a trick
 */
export function playTricks(world: World, relayer: Hex, attacks: readonly Attack[]): Tricksters {
  const { rpcUrl } = world.devnet;
  const { forwarder } = world.deployment;
  const chain = createTestClient({ mode: 'anvil', transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
  const tricks = attacks.filter(({ trick }) => trick !== undefined);
  const waiting = new Map(tricks.map((attack) => [attack.signer.slice(2).toLowerCase(), attack]));
  let isStopped = false;
  let played = 0;

  async function play({ trick, signer, body, call }: Attack): Promise<void> {
    played += 1;
    if (trick === 'setSlot') {
      const value = numberToHex(1, { size: 32 });
      await chain.setStorageAt({ address: signer, index: 0, value });
      return;
    }
    if (trick === 'upgrade') return await chain.setCode({ address: signer, bytecode: BURNER });
    const user = world.users.find(({ account }) => account.address === signer);
    if (user === undefined) return;
    const data =
      trick === 'takeBack'
        ? encodeFunctionData({ abi: forwarderAbi, functionName: 'invalidateNonce' })
        : (call ??
          encodeForwarderCall({ action: 'WRITE_DATA_FOR', params: body.params as ActionParams<'WRITE_DATA_FOR'> })
            .data);
    const account = trick === 'takeBack' ? user.account : privateKeyToAccount(world.relayerKeys[1] as Hex);
    const fees = { maxFeePerGas: 2n * ATTACKERS_TIP, maxPriorityFeePerGas: ATTACKERS_TIP, gas: 400_000n };
    await chain.sendTransaction({ account, to: forwarder, data, ...fees, chain: null });
  }

  async function look(): Promise<void> {
    const pending = (await chain.request({
      method: 'eth_getBlockByNumber',
      params: ['pending', true],
    } as never)) as PendingBlock;
    const inputs = pending.transactions.filter(({ from }) => from === relayer).map(({ input }) => input);
    for (const [key, attack] of waiting) {
      if (!inputs.some((input) => input.includes(key))) continue;
      waiting.delete(key);
      // One that comes too late is one that did not work.
      await play(attack).catch(() => undefined);
    }
  }

  const watching = (async () => {
    while (!isStopped) {
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  })();
  return {
    played: () => played,
    async stop() {
      isStopped = true;
      await watching;
    },
  };
}
