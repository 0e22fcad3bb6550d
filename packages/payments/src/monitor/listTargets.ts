import { openAccount } from '@prism-gateway/node/accounts';
import { type Address, createPublicClient } from 'viem';
import { connectNode } from '../chain/connectNode.ts';
import type { Settings } from '../settings/settings.ts';
import type { MonitorTarget } from './createMonitor.ts';

/** A payment takes a buy and a transfer. */
const PAYMENT_TRANSACTIONS = 2;

async function listOwnAddresses(settings: Settings<'gas-monitor'>): Promise<readonly Address[]> {
  const {
    RELAYER_PRIVATE_KEY: key,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: keystorePassword,
  } = settings;
  if (key === undefined && keystore === undefined) return settings.RELAYER_ADDRESSES;
  // The schema has checked the key's digits.
  const { address } = await openAccount({ privateKey: key as `0x${string}` | undefined, keystore, keystorePassword });
  return [...new Set([address, ...settings.RELAYER_ADDRESSES])];
}

/** Lists what the gas monitor watches. */
export async function listTargets(
  settings: Settings<'gas-monitor'>,
  signal: AbortSignal,
): Promise<readonly MonitorTarget[]> {
  const node = { timeoutMs: settings.RPC_TIMEOUT_MS, attempts: 2, signal };
  const connect = (rpcUrl: string) => createPublicClient({ transport: connectNode({ ...node, rpcUrl }) });
  const others = settings.gasTargets.map(({ name, rpcUrl, addresses }) => ({
    name,
    client: connect(rpcUrl),
    addresses,
    unit: { name: 'requests', transactions: 1 } as const,
  }));
  if (settings.RPC_URL === undefined) return others;
  const { STABLECOIN_ADDRESS: stablecoin, EXCHANGE_ADDRESS: exchange } = settings;
  const isForPayments = exchange !== undefined;
  const own: MonitorTarget = {
    name: settings.CHAIN_ID === 0 ? 'the chain of RPC_URL' : `chain ${settings.CHAIN_ID}`,
    client: connect(settings.RPC_URL),
    chainId: settings.CHAIN_ID === 0 ? undefined : settings.CHAIN_ID,
    addresses: await listOwnAddresses(settings),
    tokens: stablecoin === undefined ? undefined : { stablecoin, exchange },
    unit: isForPayments
      ? { name: 'payments', transactions: PAYMENT_TRANSACTIONS }
      : { name: 'requests', transactions: 1 },
  };
  return [own, ...others];
}
