import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { signWrite, startProgram, type World } from '@prism-gateway/testing/world';
import { createTestClient, http, numberToHex, publicActions, walletActions } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';

/** Pays for any write of these tests, in base units of credits. */
export const FEE = 3000n * 10n ** 18n;
export const CHAIN_NAME = 'eip155:31337';
/** How long a poll may take. */
export const LONG = { timeout: TIMEOUT_MS };

/** A client that may steer the chain. */
export const connect = ({ devnet }: Pick<World, 'devnet'>) =>
  createTestClient({ mode: 'anvil', transport: http(devnet.rpcUrl), pollingInterval: 50 })
    .extend(publicActions)
    .extend(walletActions);

/** A write of one of the world's users. */
export interface Write {
  readonly user: number;
  /** Whose key signs; default the user's own. */
  readonly by?: PrivateKeyAccount;
  /** Names the entry, too. */
  readonly nonce?: bigint;
  readonly fee?: bigint;
  readonly ageSeconds?: number;
  /** Unix seconds; default by the age. */
  readonly timestamp?: bigint;
  /** Whose prism; default the user's own. */
  readonly prismOf?: number;
}

export async function sign(
  world: Pick<World, 'deployment' | 'users'>,
  write: Write,
): Promise<ActionParams<'WRITE_DATA_FOR'>> {
  const { user, by, nonce = 1n, fee = FEE, ageSeconds = 5, prismOf = user } = write;
  const { timestamp = BigInt(Math.floor(Date.now() / 1000) - ageSeconds) } = write;
  // Both are of the world's users.
  const { account } = world.users[user]!;
  const { cloudId } = world.users[prismOf]!;
  const signer = by === undefined ? account : { ...by, address: account.address };
  const wish = {
    dataId: numberToHex(nonce, { size: 32 }),
    payload: '0xabcd',
    relayerFee: fee,
    nonce,
    timestamp,
  } as const;
  return await signWrite(world.deployment, { account: signer, cloudId }, wish);
}

/** Posts a write. @param write.chainName - relayers of other names leave it @returns its id */
export async function post(
  world: Pick<World, 'deployment' | 'users' | 'client'>,
  write: Write & { readonly chainName?: string },
): Promise<string> {
  const { chainName = CHAIN_NAME } = write;
  const body = { chainName, action: 'WRITE_DATA_FOR', params: await sign(world, write) } as const;
  return (await world.client.submitRequest(body)).requestId;
}

/** Waits until a request has ended. */
export async function waitFor(world: Pick<World, 'client'>, requestId: string): Promise<RequestRecord> {
  return await world.client.waitForRequest(requestId, { timeoutMs: TIMEOUT_MS, pollIntervalMs: 50 });
}

/** Starts a relayer behind nodes that behave so from the start; requests of its own chain name are for it alone. */
export async function startBehind(
  world: World,
  stack: AsyncDisposableStack,
  { index, plans, env = {} }: { index: number; plans: readonly RpcFaultPlan[]; env?: Record<string, string> },
) {
  const proxies = await Promise.all(plans.map((plan) => startRpcFaultProxy({ target: world.devnet.rpcUrl, plan })));
  for (const proxy of proxies) stack.use(proxy);
  const chainName = `chain-of-${index}`;
  const own = world.relayerEnv(index, proxies.map(({ url }) => url).join(','));
  const relayer = await startProgram('relayer', { env: { ...own, CHAIN_NAME: chainName, ...env } });
  stack.defer(() => relayer.kill());
  return { relayer, chainName, proxies };
}

/**
 * Reads what `/health` of a running relayer or watchtower says.
 *
 * @returns `ok`, or a line for each thing that is the matter
 * @throws Error where it was started without its metrics port
 */
export async function readHealth(
  at: { readonly url: string } | { readonly metricsUrl: string | undefined },
): Promise<string> {
  const metricsUrl = 'url' in at ? at.url : at.metricsUrl;
  if (metricsUrl === undefined) throw new Error('started without METRICS_PORT, which its health needs');
  return await (await fetch(`${metricsUrl}/health`)).text();
}
