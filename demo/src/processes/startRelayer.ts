import { fileURLToPath } from 'node:url';
import type { Hex } from 'viem';
import { type Child, type ChildOrder, spawnChild } from './spawnChild.ts';

const ENTRY = fileURLToPath(new URL('../../../packages/relayer/src/entry/relayer.ts', import.meta.url));

/** What one relayer is told. */
export interface RelayerOrder extends Pick<ChildOrder, 'name' | 'logPath' | 'onUnexpectedEnd' | 'signal'> {
  readonly gatewayUrl: string;
  readonly privateKey: Hex;
  readonly chainName: string;
  readonly rpcUrl: string;
  readonly forwarder: string;
  /** Credits that one ether is worth. */
  readonly creditsPerEth: bigint;
  /** Most requests that it holds at once. */
  readonly maxInFlight: number;
  /** Where its journals go; the same after a crash. */
  readonly dataDir: string;
}

/** A relayer at work; `ready` is the URL of its metrics. */
export type DemoRelayer = Child;

/**
 * Starts a relayer in a process of its own.
 *
 * @param order - its settings
 * @throws DemoError `PROCESS_ENDED`, `PROCESS_SILENT`
 */
export async function startRelayer(order: RelayerOrder): Promise<DemoRelayer> {
  const { name, logPath, onUnexpectedEnd, signal } = order;
  const env = {
    GATEWAY_URL: order.gatewayUrl,
    RELAYER_PRIVATE_KEY: order.privateKey,
    CHAIN_NAME: order.chainName,
    RPC_URL: order.rpcUrl,
    FORWARDER_ADDRESS: order.forwarder,
    CREDITS_PER_ETH: String(order.creditsPerEth),
    MAX_IN_FLIGHT: String(order.maxInFlight),
    // The chain has a block in a moment: there is no use in pausing as long as on one with blocks of 12 s.
    POLL_MIN_MS: '50',
    POLL_MAX_MS: '500',
    DATA_DIR: order.dataDir,
    METRICS_PORT: '0',
    DRAIN_SECONDS: '3',
  };
  const readyPattern = /"metrics":"([^"]+)".*"msg":"started"/;
  return await spawnChild({ name, entry: ENTRY, env, logPath, readyPattern, onUnexpectedEnd, signal });
}
