import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { createGatewayClient, type GatewayClient } from './gatewayClient.ts';
import { createRelayers, type RelayerClient } from './relayerClient.ts';

/** Two gateway processes on one data directory. */
export interface GatewayPair {
  readonly client: GatewayClient;
  /** All on the whitelist. */
  readonly relayers: readonly RelayerClient[];
  /** Addresses of the two. */
  readonly urls: readonly [string, string];
  /** Stops all and removes the data. */
  dispose(): Promise<void>;
}

/** Puts relayers on the whitelist of a gateway. */
export async function addRelayers(
  client: GatewayClient,
  { url, adminKey }: Pick<RunningGateway, 'url' | 'adminKey'>,
  relayers: readonly RelayerClient[],
): Promise<void> {
  const headers = { 'x-admin-key': adminKey };
  for (const { address } of relayers) {
    const answer = await client.call(url, { method: 'POST', path: '/admin/relayers', json: { address }, headers });
    if (answer.status !== 201) throw new Error(`a relayer was not added: ${answer.status} ${answer.text}`);
  }
}

export interface GatewayPairOptions {
  /** How many relayers to make. */
  readonly relayers: number;
  /** Settings of both; without any, they share one file. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a pair of gateways on the same data is started. */
export type StartGatewayPair = (options: GatewayPairOptions) => Promise<GatewayPair>;

/** Starts two gateways as two processes on the same data. */
export async function startGatewayPair({ relayers: count, env = {} }: GatewayPairOptions): Promise<GatewayPair> {
  const dataDir = await mkdtemp(join(tmpdir(), 'prism-pair-'));
  const client = createGatewayClient(50);
  const started = await Promise.allSettled([startGateway({ dataDir, env }), startGateway({ dataDir, env })]);
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  async function dispose(): Promise<void> {
    client.close();
    await Promise.all(running.map((gateway) => gateway.kill()));
    await rm(dataDir, { recursive: true, force: true });
  }
  try {
    const [first, second] = running;
    if (first === undefined || second === undefined) throw new Error('a gateway did not start', { cause: started });
    const relayers = await createRelayers(count);
    await addRelayers(client, first, relayers);
    return { client, relayers, urls: [first.url, second.url], dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
