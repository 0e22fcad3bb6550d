import { setTimeout as pause } from 'node:timers/promises';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Program, World } from '@prism-gateway/testing/world';

/** Connections that post. */
const CONNECTIONS = 16;
/** How often relayers are asked how far they are, in milliseconds. */
const ASK_INTERVAL_MS = 20;
/** Most time for one run, in milliseconds. */
const TIMEOUT_MS = 180_000;

/** Posts writes, many at once. */
export async function postWrites(world: World, writes: readonly ActionParams<'WRITE_DATA_FOR'>[]): Promise<void> {
  const rest = writes.values();
  async function runLane(): Promise<void> {
    // The lanes share one iterator.
    for (const params of rest) {
      await world.client.submitRequest({ chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params });
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, runLane));
}

async function sumMetric(relayers: readonly Program[], name: string, labels?: string): Promise<number> {
  const values = await Promise.all(relayers.map((relayer) => relayer.readMetric(name, labels)));
  return values.reduce((sum, value) => sum + value, 0);
}

/** The result of relaying; sums over all relayers. */
export interface Relayed {
  /** Requests a second, from the first POST to the last report. */
  readonly perSecond: number;
  readonly gasUsed: number;
  readonly transactions: number;
  readonly won: number;
  readonly conflicts: number;
}

async function readSums(relayers: readonly Program[]) {
  const metric = (name: string, labels?: string) => sumMetric(relayers, `prism_relayer_${name}`, labels);
  const [succeeded, failed, gasUsed, transactions, won, conflicts] = await Promise.all([
    metric('reports_total', 'status="success"'),
    metric('reports_total', 'status="failed"'),
    metric('gas_used_total'),
    metric('transactions_total'),
    metric('claims_total', 'result="won"'),
    metric('claims_total', 'result="conflict"'),
  ]);
  return { succeeded, failed, gasUsed, transactions, won, conflicts };
}

/**
 * Posts writes and waits until the relayers have reported all of them.
 *
 * @throws Error if one has failed, or it takes too long
 */
export async function relayWrites(
  world: World,
  run: { readonly relayers: readonly Program[]; readonly writes: readonly ActionParams<'WRITE_DATA_FOR'>[] },
): Promise<Relayed> {
  const { relayers, writes } = run;
  const before = await readSums(relayers);
  const startedAt = performance.now();
  await postWrites(world, writes);
  for (;;) {
    const reported = await sumMetric(relayers, 'prism_relayer_reports_total');
    if (reported >= before.succeeded + before.failed + writes.length) break;
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error(`Only ${reported} requests were reported in time.`);
    await pause(ASK_INTERVAL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readSums(relayers);
  if (after.failed > before.failed) throw new Error('A write was reported failed.');
  return {
    perSecond: writes.length / seconds,
    gasUsed: after.gasUsed - before.gasUsed,
    transactions: after.transactions - before.transactions,
    won: after.won - before.won,
    conflicts: after.conflicts - before.conflicts,
  };
}
