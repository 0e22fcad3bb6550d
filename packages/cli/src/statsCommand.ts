import type { Command } from './command.ts';
import { writeTable } from './writeTable.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

const rowsOf = (value: unknown): Rows => (Array.isArray(value) ? value : []);
const seconds = (ms: unknown) => (typeof ms === 'number' ? `${(ms / 1000).toFixed(1)} s` : '');

/** Sums of the last minutes. */
function sumUp(minutes: Rows): string {
  const sum = (name: string) => minutes.reduce((total, minute) => total + Number(minute[name] ?? 0), 0);
  return `Last hour: ${sum('posts')} posted, ${sum('claims')} claimed, ${sum('success')} succeeded, ${sum('failed')} failed.`;
}

/** Says how many rows are left out of a table. */
const countRest = (rows: Rows, shown: number) => (rows.length > shown ? [`and ${rows.length - shown} more`] : []);

/**
 * Writes stats for people.
 *
 * @param stats - as `GET /admin/stats` answers
 * @param mostRows - of a table; those that come first are the busiest chains, and the relayers that were seen last
 */
export function writeStats(stats: Readonly<Record<string, unknown>>, mostRows = Number.POSITIVE_INFINITY): string {
  const [allChains, allRelayers] = [rowsOf(stats.chains), rowsOf(stats.relayers)];
  const chains = allChains
    .slice(0, mostRows)
    .map((row) => [...[row.chainName ?? '(all others)', row.pending, row.processing, row.success, row.failed]]);
  const relayers = allRelayers
    .slice(0, mostRows)
    .map((row) => [
      ...[row.address, row.openClaims, row.success, row.failed, row.conflicts],
      ...[seconds(row.medianMs), seconds(row.p95Ms), row.lastSeenAt ?? '–'],
    ]);
  const oldest = [stats.oldestPendingAt ?? 'none', stats.oldestProcessingAt ?? 'none'];
  return [
    [
      writeTable([['CHAIN', 'PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'], ...chains]),
      ...countRest(allChains, mostRows),
    ].join('\n'),
    `Oldest pending: ${oldest[0]}. Oldest claimed: ${oldest[1]}.`,
    sumUp(rowsOf(stats.minutes)),
    [
      writeTable([['RELAYER', 'OPEN', 'SUCCESS', 'FAILED', 'CONFLICTS', 'MEDIAN', 'P95', 'LAST SEEN'], ...relayers]),
      ...countRest(allRelayers, mostRows),
    ].join('\n'),
  ].join('\n\n');
}

/** Shows the queue and the relayers. */
export const statsCommand: Command = {
  name: 'stats',
  takes: '',
  summary: 'shows the queue and its relayers at one look',
  options: {},
  async run({ call, json, print }) {
    const stats = await call({ path: '/admin/stats' });
    print(json ? JSON.stringify(stats) : writeStats(stats));
  },
};
