import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Party } from '../world/accounts.ts';
import { WORLD } from '../world/settings.ts';
import type { World } from '../world/startWorld.ts';
import { type Child, type ChildOrder, spawnChild } from './spawnChild.ts';

const ENTRY = fileURLToPath(new URL('../../../packages/relayer/src/entry/watchtower.ts', import.meta.url));

/**
 * Starts a watchtower in a process of its own, which acts upon lies.
 *
 * @param world - whose gateway and chain
 * @param order - the key it reads the gateway with, and where its journal and log go
 * @throws DemoError `PROCESS_ENDED`, `PROCESS_SILENT`
 */
export async function startWatchtower(
  { gateway, rpcUrl, deployment }: Pick<World, 'gateway' | 'rpcUrl' | 'deployment'>,
  order: Pick<ChildOrder, 'onUnexpectedEnd' | 'signal'> & { readonly party: Party; readonly dir: string },
): Promise<Child> {
  const { party, dir, onUnexpectedEnd, signal } = order;
  const env = {
    GATEWAY_URL: gateway.url,
    RELAYER_PRIVATE_KEY: party.privateKey,
    CHAIN_NAME: WORLD.chainName,
    RPC_URL: rpcUrl,
    FORWARDER_ADDRESS: deployment.forwarder,
    POLL_MS: '200',
    DATA_DIR: join(dir, 'watchtower'),
    METRICS_PORT: '0',
    ENFORCE: 'true',
    ADMIN_API_KEY: gateway.adminKey,
  };
  const readyPattern = /"metrics":"([^"]+)".*"msg":"started"/;
  const logPath = join(dir, 'watchtower.log');
  return await spawnChild({ name: party.name, entry: ENTRY, env, logPath, readyPattern, onUnexpectedEnd, signal });
}
