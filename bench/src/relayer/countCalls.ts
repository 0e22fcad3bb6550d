import { setTimeout as pause } from 'node:timers/promises';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { signWrites } from './signWrites.ts';

/** Time after a start that is not counted, in milliseconds. */
const SETTLE_MS = 15_000;
/** How long what follows a report is counted with its write, in milliseconds. */
const AFTER_MS = 2000;

/** Counts of the programs' calls to their node. */
export interface CallFigures {
  /** Calls a minute while nothing happens. */
  readonly idle: { readonly relayer: number; readonly watchtower: number };
  /** Calls of each write that comes alone, beyond what the relayer asks in any case. */
  readonly write: readonly number[];
}

/**
 * Counts the JSON-RPC calls of one relayer and one watchtower, each with a single node of its own.
 *
 * @param load.idleMs - how long they are watched while nothing happens
 * @param load.writes - how many come, one at a time
 * @param load.blockMs - time between blocks
 */
export async function countCalls(
  stack: AsyncDisposableStack,
  load: { readonly idleMs: number; readonly writes: number; readonly blockMs: number },
): Promise<CallFigures> {
  const { idleMs, blockMs } = load;
  const world = stack.use(await startWorld({ users: load.writes, relayers: 2, chain: { blockTimeMs: blockMs } }));
  const [relayerNode, watchedNode] = [
    stack.use(await startRpcFaultProxy({ target: world.devnet.rpcUrl })),
    stack.use(await startRpcFaultProxy({ target: world.devnet.rpcUrl })),
  ];
  const start = async (name: 'relayer' | 'watchtower', env: Record<string, string>) =>
    stack.adopt(await startProgram(name, { env: { ...env, LOG_LEVEL: 'info' } }), async ({ kill }) => await kill());
  await start('relayer', world.relayerEnv(0, relayerNode.url));
  await start('watchtower', world.relayerEnv(1, watchedNode.url));
  await pause(SETTLE_MS);
  const before = [relayerNode.total(), watchedNode.total()] as const;
  await pause(idleMs);
  const perMinute = (calls: number) => (calls * 60_000) / idleMs;
  const idle = {
    relayer: perMinute(relayerNode.total() - before[0]),
    watchtower: perMinute(watchedNode.total() - before[1]),
  };
  const write: number[] = [];
  for (const params of await signWrites(world, { count: load.writes, nonce: 1n })) {
    const [calls, startedAt] = [relayerNode.total(), performance.now()];
    const body = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
    const { requestId } = await world.client.submitRequest(body);
    const { status } = await world.client.waitForRequest(requestId);
    if (status !== 'success') throw new Error(`A write was reported ${status}.`);
    await pause(AFTER_MS);
    const meanwhile = (idle.relayer * (performance.now() - startedAt)) / 60_000;
    write.push(relayerNode.total() - calls - meanwhile);
    await pause(SETTLE_MS / 3);
  }
  return { idle, write };
}
