import { ACTIONS, type Action } from '@prism-gateway/protocol';
import { formatUnits } from 'viem/utils';
import type { Checked } from './check/checked.ts';
import type { Earnings } from './check/checkFees.ts';
import type { Execution } from './check/readExecutions.ts';
import { formatCredits, formatSeconds, withCommas } from './formats.ts';
import type { Tally } from './watchRequests.ts';

interface Progress {
  readonly tally: Tally;
  readonly total: number;
  readonly submitted: number;
  readonly elapsedMs: number;
}

/** With it the longest line has less than 80 characters. */
const BAR_WIDTH = 16;

const formatEther = (wei: bigint) => Number(formatUnits(wei, 18)).toFixed(6);

/** Writes a table as lines of text: the first column to the left, the others to the right. */
function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...rows.map((cells) => (cells[index] ?? '').length)),
  );
  const writeRow = (cells: readonly string[]) =>
    widths
      .map((width, index) => (index === 0 ? cells[index]?.padEnd(width) : (cells[index] ?? '').padStart(width)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [writeRow(headings), rule, ...rows.map(writeRow)];
}

/** Writes how far the requests are. */
export function formatProgress({ tally, total, submitted, elapsedMs }: Progress): string {
  const { counts, ended } = tally;
  const bar = '█'.repeat(Math.round((ended / total) * BAR_WIDTH)).padEnd(BAR_WIDTH, '░');
  const signed = submitted < total ? `signed ${submitted} · ` : '';
  const states = `${signed}pending ${counts.pending} · processing ${counts.processing} · failed ${counts.failed}`;
  return `${formatSeconds(elapsedMs).padStart(7)}  ${bar} ${ended}/${total}  ${states}`;
}

function averageGas(executions: readonly Execution[]): string {
  if (executions.length === 0) return '–';
  return withCommas.format(executions.reduce((sum, { gas }) => sum + gas, 0n) / BigInt(executions.length));
}

/** Writes the outcome of the requests by action, with the gas that one has used. */
export function formatActions(executions: readonly Execution[]): readonly string[] {
  const byAction = Map.groupBy(executions, ({ submitted }) => submitted.action);
  const headings = ['Action', 'requests', 'success', 'failed', 'gas each', 'gathered', 'gas each', 'fees (credits)'];
  const rowOf = (action: Action) => {
    const own = byAction.get(action) ?? [];
    const gathered = own.filter(({ carried }) => carried > 1);
    const succeeded = own.filter(({ record }) => record?.status === 'success').length;
    const fees = own.flatMap(({ events }) => events).reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
    const counts = [own.length, succeeded, own.length - succeeded].map(String);
    const alone = own.filter(({ carried }) => carried === 1);
    return [action, ...counts, averageGas(alone), `${gathered.length}`, averageGas(gathered), formatCredits(fees)];
  };
  return formatTable(headings, ACTIONS.map(rowOf));
}

/** Writes what one write has cost in gas: alone, gathered by a relayer, and in a batch that users have queued. */
export function formatWriteGas(executions: readonly Execution[]): string {
  const writes = executions.filter(({ submitted }) => submitted.action === 'WRITE_DATA_FOR');
  const alone = averageGas(writes.filter(({ carried }) => carried === 1));
  const gathered = averageGas(writes.filter(({ carried }) => carried > 1));
  const batches = executions.filter(({ submitted }) => submitted.action === 'BATCH_MULTI_USER_WRITE_DATA');
  const entries = batches.reduce((sum, { events }) => sum + events.length, 0);
  const gas = batches.reduce((sum, execution) => sum + execution.gas, 0n);
  const queued = entries === 0 ? '–' : withCommas.format(gas / BigInt(entries));
  return `Gas per write: ${alone} alone · ${gathered} gathered by a relayer · ${queued} in a multi-user batch`;
}

/** Writes a line for each request. */
export function formatRequests(executions: readonly Execution[]): readonly string[] {
  const rows = executions.map(({ submitted, record, gas, carried }) => [
    submitted.action,
    record?.status ?? 'unknown',
    withCommas.format(gas),
    `${carried}`,
    record?.txHash ?? record?.errorMessage ?? '',
  ]);
  return formatTable(['Action', 'status', 'gas', 'of', 'transaction'], rows);
}

/** Writes what relayers and treasury have got. */
export function formatEarnings(earnings: readonly Earnings[], treasury: bigint): readonly string[] {
  const headings = ['Who', 'requests', 'transactions', 'credits', 'worth (ether)', 'gas paid (ether)'];
  const rows = earnings.map(({ name, isOfficial, requests, transactions, credits, worth, spent }) => [
    `${name}, ${isOfficial ? 'official' : 'not official'}`,
    `${requests}`,
    `${transactions}`,
    formatCredits(credits),
    formatEther(worth),
    formatEther(spent),
  ]);
  return formatTable(headings, [...rows, ['treasury', '', '', formatCredits(treasury)]]);
}

/** Writes what was compared. */
export function formatChecks(checks: readonly Checked[]): readonly string[] {
  return checks.map(({ claim, found, isTrue }) => `${isTrue ? '✓' : '✗'} ${claim}: ${found}`);
}
