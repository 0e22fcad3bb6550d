import type { BenchContext } from '../benchContext.ts';
import type { Gateway } from '../processes/startGateway.ts';

/**
 * Creates requests and gives their ids, outside of any measured time.
 *
 * @param context the bench
 * @param params where, and how many
 * @returns ids of pending requests
 */
export async function createBacklog(
  context: BenchContext,
  params: { readonly gateway: Gateway; readonly count: number },
): Promise<readonly string[]> {
  const batchId = await context.load.call('prepare', { kind: 'create', count: params.count });
  const created = await context.load.call('replay', {
    batchId,
    port: params.gateway.port,
    connections: context.options.connections,
    expectedStatus: 201,
    keepRequestIds: true,
  });
  await context.load.call('release', batchId);
  return created.requestIds;
}
