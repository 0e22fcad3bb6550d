import { setTimeout as pause } from 'node:timers/promises';
import { forwarderAbi } from '@prism-gateway/contracts';
import { signWrite, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { createPublicClient, type Hex, http, numberToHex } from 'viem';
import { signWrites } from './signWrites.ts';

/** Writes of one signer at once. */
export const RUN_WRITES = 30;
/** Requests of the light load that are not counted. */
const WARM_UP = 3;
/** How often the chain is looked at, in milliseconds. */
const POLL_MS = 20;
const TIMEOUT_MS = 120_000;
/** Credits that pay for a single write at the devnet's price of gas. */
const FEE = 3000n * 10n ** 18n;

/** The result of one signer's run of writes. */
export interface RunFigures {
  /** From the first POST until the chain has carried out all. */
  readonly carriedOutSeconds: number;
  /** From the first POST until the gateway has all reports. */
  readonly reportedSeconds: number;
  readonly transactions: number;
}

async function readForwarderNonce({ devnet, deployment }: World, signer: Hex): Promise<bigint> {
  const client = createPublicClient({ transport: http(devnet.rpcUrl), cacheTime: 0 });
  const call = { address: deployment.forwarder, abi: forwarderAbi, functionName: 'nonces', args: [signer] } as const;
  return await client.readContract(call);
}

/** Starts a world with blocks by time, and one relayer in it. */
async function openWorld(
  stack: AsyncDisposableStack,
  {
    users,
    confirmations,
    blockMs,
  }: { readonly users: number; readonly confirmations: number; readonly blockMs: number },
): Promise<World> {
  const world = stack.use(await startWorld({ users, relayers: 1, chain: { blockTimeMs: blockMs } }));
  const env = { ...world.relayerEnv(0), CONFIRMATIONS: String(confirmations), LOG_LEVEL: 'info' };
  stack.adopt(await startProgram('relayer', { env }), async ({ kill }) => await kill());
  return world;
}

/**
 * Measures how long it takes from a POST until the gateway shows `success`, with one request at a time, at any moment of a block.
 *
 * @param load.requests - how many are counted
 * @param load.blockMs - time between blocks
 * @returns milliseconds of each
 * @throws GatewayError if one does not end in time, Error if one fails
 */
export async function measureLatency(
  stack: AsyncDisposableStack,
  load: { readonly requests: number; readonly blockMs: number },
): Promise<readonly number[]> {
  const count = load.requests + WARM_UP;
  const { blockMs } = load;
  const world = await openWorld(stack, { users: count, confirmations: 1, blockMs });
  const writes = await signWrites(world, { count, nonce: 1n });
  const figures: number[] = [];
  for (const params of writes) {
    await pause(Math.random() * blockMs);
    const startedAt = performance.now();
    const body = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
    const { requestId } = await world.client.submitRequest(body);
    const { status } = await world.client.waitForRequest(requestId, { timeoutMs: TIMEOUT_MS });
    if (status !== 'success') throw new Error(`A write was reported ${status}.`);
    figures.push(performance.now() - startedAt);
  }
  return figures.slice(WARM_UP);
}

/**
 * Measures runs of writes of one signer, all posted at once.
 *
 * @param load.confirmations - blocks that finalize a transaction
 * @param load.rounds - runs; one before them is not counted
 * @param load.blockMs - time between blocks
 */
export async function measureRuns(
  stack: AsyncDisposableStack,
  load: { readonly confirmations: number; readonly rounds: number; readonly blockMs: number },
): Promise<readonly RunFigures[]> {
  const { confirmations, rounds, blockMs } = load;
  const world = await openWorld(stack, { users: 1, confirmations, blockMs });
  const [user] = world.users;
  if (user === undefined) throw new TypeError('the world has a user');
  const figures: RunFigures[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const first = await readForwarderNonce(world, user.account.address);
    const timestamp = BigInt(Math.floor(Date.now() / 1000)) - 5n;
    const bodies = await Promise.all(
      Array.from({ length: RUN_WRITES }, async (_, index) => {
        const nonce = first + BigInt(index);
        const wish = { dataId: numberToHex(nonce, { size: 32 }), payload: '0x5a5a', relayerFee: FEE, nonce } as const;
        const params = await signWrite(world.deployment, user, { ...wish, timestamp });
        return { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
      }),
    );
    await pause(Math.random() * blockMs);
    const startedAt = performance.now();
    const records = await Promise.all(bodies.map((body) => world.client.submitRequest(body)));
    const last = first + BigInt(RUN_WRITES);
    const untilMs = startedAt + TIMEOUT_MS;
    while ((await readForwarderNonce(world, user.account.address)) < last && performance.now() < untilMs)
      await pause(POLL_MS);
    const carriedOutSeconds = (performance.now() - startedAt) / 1000;
    const ids = records.map(({ requestId }) => requestId);
    const ended = await world.client.waitForRequests(ids, { timeoutMs: TIMEOUT_MS, pollIntervalMs: POLL_MS });
    const reportedSeconds = (performance.now() - startedAt) / 1000;
    const failed = ended.find(({ status }) => status !== 'success');
    if (failed !== undefined) throw new Error(`A write of a run was reported failed: ${failed.errorMessage}.`);
    const transactions = new Set(ended.map(({ txHash }) => txHash)).size;
    if (round > 0) figures.push({ carriedOutSeconds, reportedSeconds, transactions });
  }
  return figures;
}
