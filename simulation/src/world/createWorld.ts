import type { Deployment } from '@prism-gateway/contracts';
import { deployContracts } from '@prism-gateway/devnet';
import { createAdminClient, createGatewayClient, type GatewayClient } from '@prism-gateway/sdk';
import { createPrisms, type PrismUser } from '@prism-gateway/testing/world';
import { type Address, type Hex, keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Chain, type ChainNode, createChain } from '../chain/index.ts';
import { runAs } from '../core/processes.ts';
import type { Realm } from '../core/realm.ts';
import { createDevices, type Device } from './apps.ts';
import { type Execution, followExecutions } from './followExecutions.ts';
import { createPayments, PAYER_KEYS, type Payments, payersOf } from './payments/createPayments.ts';
import { createGatewayService, createRelayerService, createWatchtowerService, type Service } from './programs.ts';
import { addReceiver, type Receiver } from './receivers.ts';
import { createSpecialKeys, createSpecials, genesisOf, type Specials } from './specials.ts';
import type { Breach, Stories } from './story.ts';

export const CHAIN_ID = 4242;
export const CHAIN_NAME = `eip155:${CHAIN_ID}`;
/** The gateway's default in `dev`. */
export const ADMIN_KEY = 'change-me-admin-key';
const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
/** The others' demand for each block: half of it, at a base fee of a gwei. */
const USUAL_MARKET = { gasPerBlock: 15_000_000n, tipPerGas: GWEI };
/** Of all apps together: one writes for weeks. */
const APP_CREDITS = 200_000_000n * ETHER;
/** The worth of one ether to honest relayers, in credits. */
export const CREDITS_PER_ETH = 3_000_000n;

export interface WorldOptions {
  readonly relayers: number;
  readonly liars: number;
  readonly users: number;
  readonly nodes: number;
  readonly blockSeconds: number;
  /** Mean seconds from one card payment to the next; 0: nobody pays, and there are no payment relayers. */
  readonly payEverySeconds: number;
  /** Receivers of webhooks. */
  readonly receivers: number;
  /** Apps that write through the SDK's user client. */
  readonly apps: number;
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
  /** Calls to nodes, by the machine that made them. */
  readonly calls: Map<string, number>;
  readonly deployment: Deployment;
  readonly gateway: Service;
  readonly relayers: readonly Service[];
  readonly watchtower: Service;
  /** All programs but the gateway. */
  readonly services: readonly Service[];
  /** Undefined: nobody pays by card. */
  readonly payments: Payments | undefined;
  /** Of honest relayers, those that they change to included. */
  readonly relayerKeys: readonly RelayerKey[];
  /** Addresses in lower case that are used no more: what they still hold, the watchtower may release. */
  readonly retired: Set<string>;
  /** Addresses in lower case that an operator has shut out. */
  readonly shutOut: Set<string>;
  /** Keys to change to: funded, official and on the whitelist. */
  readonly spareKeys: readonly RelayerKey[];
  readonly liarKeys: readonly RelayerKey[];
  readonly users: readonly PrismUser[];
  readonly specials: Specials;
  readonly receivers: readonly Receiver[];
  readonly apps: readonly Device[];
  readonly client: GatewayClient;
  readonly admin: ReturnType<typeof createAdminClient>;
  readonly stories: Stories;
  /** By digest, of the chain as it is. */
  readonly executions: Map<Hex, Execution[]>;
  /** By signer in lower case and forwarder nonce, like `0x… 7`: whatever has used it, if only for a time, by digest, or `takenBack`. */
  readonly uses: ReadonlyMap<string, ReadonlySet<string>>;
  /** Digests, and hashes of the transactions, whose execution a reorganisation has undone, if only for a time. */
  readonly undone: ReadonlySet<Hex>;
  /** Signers with a forwarder nonce that they had taken back and that a reorganisation has made free again, in lower case. */
  readonly refreed: ReadonlySet<string>;
  readonly breaches: Breach[];
  /** How often the gateway was put back to an older copy of its disk. */
  readonly restores: { count: number };
  /** When a liar has lied first, by address in lower case. */
  readonly lies: Map<string, number>;
  /** Reasons for which requests may wait now, with how many hold each. */
  readonly troubles: Map<string, number>;
  /** Each block as it was made. */
  readonly blocks: BlockSample[];
  /** Each fault, from its beginning to its end. */
  readonly faults: FaultSpan[];
  /** Price of a unit of gas that a block's builder takes, in wei: base fee and tip. */
  gasPrice(): bigint;
  /** The price that wallets take: they ask a node, whose tips are those of the last blocks. */
  quoteGasPrice(): Promise<bigint>;
}

const keyOf = (name: string): Hex => keccak256(toHex(`${name} of the simulation`));

function createKeys(kind: string, count: number): RelayerKey[] {
  return Array.from({ length: count }, (_, index) => {
    const key = keyOf(`${kind} ${index}`);
    return { key, address: privateKeyToAccount(key).address };
  });
}

/** Lets a node answer on the network, as its faults allow, and counts what each machine asks it. */
function serveNode(realm: Realm, node: ChainNode, calls: Map<string, number>): void {
  realm.network.listen(`${node.name}:8545`, async ({ request, from }) => {
    const body = await request.text();
    const count = body.startsWith('[') ? body.split('"method":').length - 1 : 1;
    calls.set(from, (calls.get(from) ?? 0) + count);
    if (node.faults.isStalled) return await new Promise<Response>(() => undefined);
    if (node.faults.rateLimit === 'http') return new Response('{}', { status: 429, headers: { 'retry-after': '1' } });
    const text = await node.handleText(body);
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  });
}

/**
 * Builds a world and brings it up: chain, contracts, users with prisms, gateway, relayers, watchtower. Nothing happens in it yet.
 *
 * @param realm - its clock, network and disks
 */
export async function createWorld(realm: Realm, options: WorldOptions): Promise<World> {
  const { clock } = realm;
  const firstKeys = createKeys('relayer', options.relayers);
  const spareKeys = createKeys('spare', 2);
  const relayerKeys = [...firstKeys, ...spareKeys];
  const liarKeys = createKeys('liar', options.liars);
  const payerKeys = options.payEverySeconds > 0 ? createKeys('payer', PAYER_KEYS) : [];
  const sponsorKey = keyOf('sponsor');
  const sponsor = privateKeyToAccount(sponsorKey).address;
  const accountsOf = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => privateKeyToAccount(keyOf(`${kind} ${index}`)));
  const userAccounts = accountsOf('user', options.users);
  const rich = [sponsor, ...[...relayerKeys, ...liarKeys, ...payerKeys].map(({ address }) => address)];
  const specialKeys = createSpecialKeys(keyOf);
  const random = realm.random.fork('chain');
  const chain = await createChain({
    chainId: CHAIN_ID,
    genesisTimeSeconds: Math.floor(clock.now() / 1000),
    random: random.next,
    nowSeconds: () => Math.floor(clock.now() / 1000),
    market: { ...USUAL_MARKET, restingBaseFeePerGas: GWEI },
    accounts: Object.fromEntries([
      ...rich.map((address) => [address, { balance: 100n * ETHER }]),
      ...userAccounts.map(({ address }) => [address, { balance: ETHER / 10n }]),
      ...Object.entries(genesisOf(specialKeys)),
    ]),
  });
  const nodes = Array.from({ length: options.nodes }, (_, index) => chain.createNode({ name: `node-${index + 1}` }));
  const calls = new Map<string, number>();
  for (const node of nodes) serveNode(realm, node, calls);
  const wallets = chain.createNode({ name: 'wallets' });
  // Blocks for the set-up alone.
  let isSettingUp = true;
  const mine = () => {
    if (isSettingUp) void chain.mine().then(() => clock.at(1000, mine));
  };
  clock.at(1000, mine);
  const rpcUrl = 'http://node-1:8545';
  const official = [sponsor, ...relayerKeys.map(({ address }) => address)];
  const deployment = await deployContracts({ rpcUrl, privateKey: sponsorKey, officialRelayers: official });
  const { executions, uses, undone, refreed } = followExecutions(chain, deployment.forwarder);
  // Half of the billion credits that there are.
  const credits = (500_000_000n * ETHER) / BigInt(Math.max(50, options.users));
  const funding = { rpcUrl, deployment, sponsorKey, credits };
  const users = await createPrisms({ ...funding, accounts: userAccounts });
  const appAccounts = accountsOf('app', options.apps);
  const appFunding = { ...funding, credits: APP_CREDITS / BigInt(Math.max(1, options.apps)) };
  const appUsers = appAccounts.length === 0 ? [] : await createPrisms({ ...appFunding, accounts: appAccounts });
  const specials = await createSpecials({ ...funding, users, keys: specialKeys });
  const setting = {
    realm,
    chain,
    deployment,
    rpcUrl,
    sponsorKey,
    keys: payerKeys,
    nodes: nodes.map(({ name }) => name),
  };
  const payments = payerKeys.length === 0 ? undefined : await createPayments(setting);
  isSettingUp = false;
  const gateway = createGatewayService(realm);
  await gateway.start();
  const client = createGatewayClient({ url: 'http://gateway:8787' });
  const admin = createAdminClient({ gateway: client, adminKey: ADMIN_KEY });
  for (const { address } of [...relayerKeys, ...liarKeys]) await admin.addRelayer({ address });
  const receivers: Receiver[] = [];
  for (let n = 1; n <= options.receivers; n++) receivers.push(await addReceiver(`receiver-${n}.example`));
  const watchKey = keyOf('watchtower');
  await admin.addRelayer({ address: privateKeyToAccount(watchKey).address });
  const shared = {
    GATEWAY_URL: 'http://gateway:8787',
    CHAIN_NAME,
    RPC_URL: nodes.map(({ name }) => `http://${name}:8545`).join(','),
    FORWARDER_ADDRESS: deployment.forwarder,
  };
  const relayers = firstKeys.map(({ key }, index) =>
    createRelayerService(realm, `relayer-${index + 1}`, {
      ...shared,
      RELAYER_PRIVATE_KEY: key,
      CREDITS_PER_ETH: String(CREDITS_PER_ETH),
      // Their operators serve wallets that nobody knows, within budgets.
      UNKNOWN_WALLETS: 'true',
    }),
  );
  const watchtower = createWatchtowerService(realm, {
    ...shared,
    RELAYER_PRIVATE_KEY: watchKey,
    // It suspends nobody by the word of one node.
    ENFORCE: String(options.nodes > 1),
    ADMIN_API_KEY: ADMIN_KEY,
  });
  const payers = payments === undefined ? [] : [...payersOf(payments).map(({ service }) => service), payments.monitor];
  const services = [...relayers, watchtower, ...payers];
  for (const service of services) await service.start();
  const apps: Device[] = [];
  const world: World = {
    ...{
      realm,
      options,
      chain,
      nodes,
      calls,
      deployment,
      gateway,
      relayers,
      watchtower,
      services,
      payments,
      relayerKeys,
      spareKeys,
      liarKeys,
      users,
      specials,
      receivers,
      apps,
      client,
      admin,
    },
    ...{
      executions,
      undone,
      refreed,
      uses,
      retired: new Set(),
      shutOut: new Set(),
      stories: new Map(),
      breaches: [],
      restores: { count: 0 },
      lies: new Map(),
      troubles: new Map(),
      blocks: [],
      faults: [],
    },
    gasPrice: () => chain.nextBaseFee() + chain.market().tipPerGas,
    quoteGasPrice: async () => chain.nextBaseFee() + BigInt(String(await wallets.request('eth_maxPriorityFeePerGas'))),
  };
  for (const [index, user] of appUsers.entries()) apps.push(...createDevices(world, `app-${index + 1}`, user));
  for (const { service } of apps) await service.start();
  return world;
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
