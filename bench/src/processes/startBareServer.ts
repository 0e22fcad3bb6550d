import type { BareCalls } from '../baselines/bareCalls.ts';
import type { BenchContext } from '../benchContext.ts';
import { startChild } from './startChild.ts';

/** The bare server, listening. */
export interface BareServer {
  readonly port: number;
  readonly pid: number;
}

/**
 * Starts the bare server on the gateway's stack, Node and flags.
 *
 * @param context the bench; the server is stopped by its cleanup
 * @param constant JSON text that every GET answers
 * @returns where it listens
 */
export async function startBareServer(context: BenchContext, constant: string): Promise<BareServer> {
  const child = await startChild<BareCalls>({
    entry: new URL('../entry/bareServer.ts', import.meta.url),
    nodeFlags: context.startCommand.nodeFlags,
  });
  context.cleanup.add(() => child.stop());
  return { port: await child.call('listen', { constant }), pid: child.pid };
}
