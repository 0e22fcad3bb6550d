import { type Deployment, readRequestExecuted } from '@prism-gateway/contracts';
import { deployContracts } from '@prism-gateway/devnet';
import { createAdminClient, createGatewayClient, type GatewayClient } from '@prism-gateway/sdk';
import { createPrisms, type PrismUser } from '@prism-gateway/testing/world';
import { type Address, type Hex, keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Chain, type ChainNode, createChain } from '../chain/index.ts';
import { runAs } from '../core/processes.ts';
import type { Realm } from '../core/realm.ts';
import { createGatewayService, createRelayerService, createWatchtowerService, type Service } from './programs.ts';
import type { Breach, Stories } from './story.ts';

export const CHAIN_ID = 4242;
export const CHAIN_NAME = `eip155:${CHAIN_ID}`;
/** The gateway's default in `dev`. */
export const ADMIN_KEY = 'change-me-admin-key';
const ETHER = 10n ** 18n;
/** What one ether is worth to honest relayers, in credits. */
export const CREDITS_PER_ETH = 3_000_000n;

export interface WorldOptions {
  readonly relayers: number;
  readonly liars: number;
  readonly users: number;
  readonly nodes: number;
  readonly blockSeconds: number;
}

/** What the chain says of a request's digest. */
export interface Execution {
  readonly txHash: string;
  readonly blockNumber: number;
  readonly relayer: string;
}

export interface BlockSample {
  readonly atMs: number;
  readonly transactions: number;
  readonly baseFeeGwei: number;
}

/** A fault of the world; without an end it lasts. */
export interface FaultSpan {
  readonly name: string;
  readonly fromMs: number;
  toMs?: number;
}

/** A relayer's key, whoever uses it. */
export interface RelayerKey {
  readonly key: Hex;
  readonly address: Address;
}

/** Everything that lives, and what is known of it. */
export interface World {
  readonly realm: Realm;
  readonly options: WorldOptions;
  readonly chain: Chain;
  readonly nodes: readonly ChainNode[];
  readonly deployment: Deployment;
  readonly gateway: Service;
  readonly relayers: readonly Service[];
  readonly watchtower: Service;
  readonly relayerKeys: readonly RelayerKey[];
  readonly liarKeys: readonly RelayerKey[];
  readonly users: readonly PrismUser[];
  readonly client: GatewayClient;
  readonly admin: ReturnType<typeof createAdminClient>;
  readonly stories: Stories;
  /** By digest, of the chain as it is. */
  readonly executions: Map<Hex, Execution[]>;
  readonly breaches: Breach[];
  /** When a liar has lied first, by address in lower case. */
  readonly lies: Map<string, number>;
  /** Reasons for which requests may wait now, with how many hold each. */
  readonly troubles: Map<string, number>;
  /** Each block as it was made. */
  readonly blocks: BlockSample[];
  /** Each fault, from its beginning to its end. */
  readonly faults: FaultSpan[];
  /** What a unit of gas costs a block's builder takes, in wei: base fee and tip. */
  gasPrice(): bigint;
}

const keyOf = (name: string): Hex => keccak256(toHex(`${name} of the simulation`));

function createKeys(kind: string, count: number): RelayerKey[] {
  return Array.from({ length: count }, (_, index) => {
    const key = keyOf(`${kind} ${index}`);
    return { key, address: privateKeyToAccount(key).address };
  });
}

/** Lets a node answer on the network, as its faults allow. */
function serveNode(realm: Realm, node: ChainNode): void {
  const decoder = new TextDecoder();
  realm.network.listen(`${node.name}:8545`, async ({ body }) => {
    if (node.faults.isStalled) return await new Promise<Response>(() => undefined);
    if (node.faults.rateLimit === 'http') return new Response('{}', { status: 429, headers: { 'retry-after': '1' } });
    const text = await node.handleText(decoder.decode(body ?? new Uint8Array()));
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  });
}

/** Keeps what the Forwarder says of each digest, in the chain as it is. */
function followExecutions(chain: Chain, forwarder: string): Map<Hex, Execution[]> {
  const executions = new Map<Hex, Execution[]>();
  chain.onBlock(({ kind, block }) => {
    for (const { hash, logs } of block.transactions) {
      // As viem has logs.
      const source = { logs: logs.map((log) => ({ ...log })) as never, forwarder };
      for (const { digest, success, relayer } of readRequestExecuted(source)) {
        if (!success) continue;
        const known = executions.get(digest) ?? [];
        if (kind === 'added') known.push({ txHash: hash, blockNumber: block.number, relayer });
        else
          known.splice(
            known.findIndex(({ txHash }) => txHash === hash),
            1,
          );
        executions.set(digest, known);
      }
    }
  });
  return executions;
}

/**
 * Builds a world and brings it up: chain, contracts, users with prisms, gateway, relayers, watchtower. Nothing happens in it yet.
 *
 * @param realm - its clock, network and disks
 */
export async function createWorld(realm: Realm, options: WorldOptions): Promise<World> {
  const { clock } = realm;
  const relayerKeys = createKeys('relayer', options.relayers);
  const liarKeys = createKeys('liar', options.liars);
  const sponsorKey = keyOf('sponsor');
  const sponsor = privateKeyToAccount(sponsorKey).address;
  const userAccounts = Array.from({ length: options.users }, (_, index) => privateKeyToAccount(keyOf(`user ${index}`)));
  const rich = [sponsor, ...relayerKeys.map(({ address }) => address), ...liarKeys.map(({ address }) => address)];
  const random = realm.random.fork('chain');
  const chain = await createChain({
    chainId: CHAIN_ID,
    genesisTimeSeconds: Math.floor(clock.now() / 1000),
    random: random.next,
    nowSeconds: () => Math.floor(clock.now() / 1000),
    accounts: Object.fromEntries([
      ...rich.map((address) => [address, { balance: 100n * ETHER }]),
      ...userAccounts.map(({ address }) => [address, { balance: ETHER / 10n }]),
    ]),
  });
  const nodes = Array.from({ length: options.nodes }, (_, index) => chain.createNode({ name: `node-${index + 1}` }));
  for (const node of nodes) serveNode(realm, node);
  // Blocks for the set-up alone.
  let isSettingUp = true;
  const mine = () => {
    if (isSettingUp) void chain.mine().then(() => clock.at(1000, mine));
  };
  clock.at(1000, mine);
  const rpcUrl = 'http://node-1:8545';
  const official = [sponsor, ...relayerKeys.map(({ address }) => address)];
  const deployment = await deployContracts({ rpcUrl, privateKey: sponsorKey, officialRelayers: official });
  const executions = followExecutions(chain, deployment.forwarder);
  const users = await createPrisms({
    rpcUrl,
    deployment,
    sponsorKey,
    accounts: userAccounts,
    credits: 10_000_000n * ETHER,
  });
  isSettingUp = false;
  const gateway = createGatewayService(realm);
  await gateway.start();
  const client = createGatewayClient({ url: 'http://gateway:8787' });
  const admin = createAdminClient({ gateway: client, adminKey: ADMIN_KEY });
  for (const { address } of [...relayerKeys, ...liarKeys]) await admin.addRelayer({ address });
  const watchKey = keyOf('watchtower');
  await admin.addRelayer({ address: privateKeyToAccount(watchKey).address });
  const shared = {
    GATEWAY_URL: 'http://gateway:8787',
    CHAIN_NAME,
    RPC_URL: nodes.map(({ name }) => `http://${name}:8545`).join(','),
    FORWARDER_ADDRESS: deployment.forwarder,
  };
  const relayers = relayerKeys.map(({ key }, index) =>
    createRelayerService(realm, `relayer-${index + 1}`, {
      ...shared,
      RELAYER_PRIVATE_KEY: key,
      CREDITS_PER_ETH: String(CREDITS_PER_ETH),
    }),
  );
  const watchtower = createWatchtowerService(realm, {
    ...shared,
    RELAYER_PRIVATE_KEY: watchKey,
    ENFORCE: 'true',
    ADMIN_API_KEY: ADMIN_KEY,
  });
  for (const service of [...relayers, watchtower]) await service.start();
  return {
    ...{
      realm,
      options,
      chain,
      nodes,
      deployment,
      gateway,
      relayers,
      watchtower,
      relayerKeys,
      liarKeys,
      users,
      client,
      admin,
    },
    ...{ executions, stories: new Map(), breaches: [], lies: new Map(), troubles: new Map(), blocks: [], faults: [] },
    gasPrice: () => chain.nextBaseFee() + 10n ** 9n,
  };
}

/** Has blocks made, from now on: each after its time, now and then a slot without one. */
export function startMiner({ realm, chain, options, troubles, blocks }: World): void {
  const random = realm.random.fork('miner');
  const { blockSeconds } = options;
  async function mine(): Promise<void> {
    const isMissed = troubles.has('missed slots') && random.chance(0.2);
    if (!isMissed) {
      const block = await chain.mine();
      const gwei = Number(block.baseFeePerGas) / 1e9;
      blocks.push({ atMs: realm.clock.now(), transactions: block.transactions.length, baseFeeGwei: gwei });
      realm.log.add({
        kind: 'block',
        who: 'chain',
        text: `${block.number} ${block.transactions.length} tx, ${gwei.toFixed(2)} gwei`,
      });
    }
  }
  const loop = () => {
    void mine();
    realm.clock.at(blockSeconds * 1000, loop);
  };
  realm.clock.at(blockSeconds * 1000, loop);
}

/** Runs something of the world's own in the background; what it throws is a fault of the simulation. */
export function inBackground(world: World, work: () => Promise<void>): void {
  runAs(undefined, work).catch((error: unknown) => {
    world.breaches.push({
      invariant: 'simulation',
      text: String(error instanceof Error ? error.stack : error),
      about: '',
      atMs: world.realm.clock.now(),
    });
  });
}
