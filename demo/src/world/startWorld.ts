import { join } from 'node:path';
import type { Deployment } from '@prism-gateway/contracts';
import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createAdminClient, createGatewayClient, type GatewayClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import type { DemoError } from '../demoError.ts';
import { type DemoGateway, startGateway } from '../processes/startGateway.ts';
import type { RelayerOrder } from '../processes/startRelayer.ts';
import { formatCredits } from '../show/formats.ts';
import { createParty, type Party } from './accounts.ts';
import { type ChainClient, createChainClient } from './chainClient.ts';
import { fundParties } from './fundParties.ts';
import { WORLD } from './settings.ts';

/** The two relayers: one that the Forwarder has as official, one that it has not. */
export interface Relayers<T> {
  readonly official: T;
  readonly other: T;
}

/** Everything that the users and relayers of the demo meet. */
export interface World extends AsyncDisposable {
  readonly rpcUrl: string;
  /** Of a development chain. */
  readonly deployerKey: Hex;
  readonly chain: ChainClient;
  readonly deployment: Deployment;
  readonly gateway: DemoGateway;
  readonly client: GatewayClient;
  readonly users: readonly Party[];
  readonly relayers: Relayers<Party>;
  /** Settings of the relayers' processes, which are not started yet. */
  readonly orders: Relayers<RelayerOrder>;
}

/** What the world is made of. */
export interface WorldOptions {
  readonly users: number;
  /** Folder for data and logs. */
  readonly dir: string;
  /** Told of each step when it is done. */
  readonly onStep: (line: string) => void;
  readonly onUnexpectedEnd: (error: DemoError) => void;
  readonly signal: AbortSignal;
}

/** Most requests that a relayer holds at once: half of the users' next ones, so that a dead relayer does not hold them all. */
const chooseMaxInFlight = (users: number) => Math.max(1, Math.floor(users / 2));

async function startChain(stack: AsyncDisposableStack, parties: Relayers<Party>) {
  // Without the signal: the chain is to go last, after those who use it.
  const devnet = stack.use(await startDevnet({ accounts: 1 }));
  // As many keys as accounts were asked for.
  const deployerKey = devnet.privateKeys[0] as Hex;
  const { rpcUrl } = devnet;
  const { priorityWindow, relayerShareBps, protocolFee } = WORLD;
  const officialRelayers = [parties.official.account.address];
  const treasury = createParty('treasury').account.address;
  const params = { priorityWindow, relayerShareBps, protocolFee, officialRelayers, treasury };
  const deployment = await deployContracts({ rpcUrl, privateKey: deployerKey, ...params });
  return { rpcUrl, deployerKey, deployment, chain: createChainClient(rpcUrl) };
}

async function startQueue(stack: AsyncDisposableStack, relayers: Relayers<Party>, options: WorldOptions) {
  const { dir, onUnexpectedEnd, signal } = options;
  const dataDir = join(dir, 'gateway');
  const logPath = join(dir, 'gateway.log');
  const gateway = stack.use(await startGateway({ dataDir, logPath, onUnexpectedEnd, signal }));
  const admin = createAdminClient({ url: gateway.url, adminKey: gateway.adminKey });
  for (const { account, name } of [relayers.official, relayers.other]) {
    await admin.addRelayer({ address: account.address, label: name }, { signal });
  }
  return gateway;
}

function orderRelayers(
  { dir, onUnexpectedEnd, signal, users }: WorldOptions,
  world: Pick<World, 'relayers' | 'gateway' | 'rpcUrl' | 'deployment'>,
): Relayers<RelayerOrder> {
  const { relayers, gateway, rpcUrl, deployment } = world;
  const order = (party: Party, folder: string): RelayerOrder => ({
    name: party.name,
    gatewayUrl: gateway.url,
    privateKey: party.privateKey,
    chainName: WORLD.chainName,
    rpcUrl,
    forwarder: deployment.forwarder,
    creditsPerEth: WORLD.creditsPerEth,
    maxInFlight: chooseMaxInFlight(users),
    dataDir: join(dir, folder),
    logPath: join(dir, `${folder}.log`),
    onUnexpectedEnd,
    signal,
  });
  return { official: order(relayers.official, 'relayer-a'), other: order(relayers.other, 'relayer-b') };
}

async function buildWorld(stack: AsyncDisposableStack, options: WorldOptions): Promise<Omit<World, symbol>> {
  const { onStep, signal } = options;
  const relayers = { official: createParty('relayer A'), other: createParty('relayer B') };
  const users = Array.from({ length: options.users }, (_, index) => createParty(`user ${index + 1}`));
  const { rpcUrl, deployerKey, deployment, chain } = await startChain(stack, relayers);
  onStep(`chain      ${rpcUrl} (Anvil), six contracts deployed; Forwarder ${deployment.forwarder}`);
  signal.throwIfAborted();
  const addresses = (parties: readonly Party[]) => parties.map(({ account }) => account.address);
  const ether = { amount: WORLD.etherPerRelayer, to: addresses([relayers.official, relayers.other]) };
  const credits = { amount: WORLD.creditsPerUser, to: addresses(users) };
  await fundParties(chain, { rpcUrl, deployerKey, deployment, ether, credits });
  onStep(`users      ${users.length}, each with ${formatCredits(WORLD.creditsPerUser)} credits and no ether`);
  const gateway = await startQueue(stack, relayers, options);
  onStep(`gateway    ${gateway.url}, two relayers on its whitelist`);
  const client = createGatewayClient({ url: gateway.url });
  const orders = orderRelayers(options, { relayers, gateway, rpcUrl, deployment });
  return { rpcUrl, deployerKey, chain, deployment, gateway, client, users, relayers, orders };
}

/**
 * Starts the chain and the gateway, deploys the contracts, gives relayers ether and users credits, and puts the relayers on the
 * gateway's whitelist.
 *
 * @param options - see each field
 * @returns the world; disposing of it stops everything
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const stack = new AsyncDisposableStack();
  try {
    const world = await buildWorld(stack, options);
    return { ...world, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
