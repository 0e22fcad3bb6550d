import { ACTIONS, type Action } from '@prism-gateway/protocol';
import type { Checked } from '../check/checked.ts';
import type { Execution } from '../check/execution.ts';
import type { Earnings } from '../check/readEarnings.ts';
import { formatCount, formatCredits, formatEther } from './formats.ts';
import { type Column, formatTable } from './formatTable.ts';

const left = (heading: string): Column => ({ heading, align: 'left' });
const right = (heading: string): Column => ({ heading, align: 'right' });

function averageGas(executions: readonly Execution[]): string {
  if (executions.length === 0) return '–';
  return formatCount(executions.reduce((sum, { gas }) => sum + gas, 0n) / BigInt(executions.length));
}

function countFees(executions: readonly Execution[]): bigint {
  return executions.flatMap(({ events }) => events).reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
}

/** Writes the outcome of the requests by action, with the gas that one has used. */
export function formatActions(executions: readonly Execution[]): readonly string[] {
  const byAction = Map.groupBy(executions, ({ submitted }) => submitted.action);
  const columns = [
    left('Action'),
    right('requests'),
    right('success'),
    right('failed'),
    right('gas each'),
    right('gathered'),
    right('gas each'),
    right('fees (credits)'),
  ];
  const rowOf = (action: Action) => {
    const own = byAction.get(action) ?? [];
    const gathered = own.filter(({ carried }) => carried > 1);
    const succeeded = own.filter(({ record }) => record?.status === 'success').length;
    return [
      action,
      `${own.length}`,
      `${succeeded}`,
      `${own.length - succeeded}`,
      averageGas(own.filter(({ carried }) => carried === 1)),
      `${gathered.length}`,
      averageGas(gathered),
      formatCredits(countFees(own)),
    ];
  };
  return formatTable(columns, ACTIONS.map(rowOf));
}

/** Writes what one write has cost in gas: alone, gathered by a relayer, and in a batch that users have queued. */
export function formatWriteGas(executions: readonly Execution[]): string {
  const writes = executions.filter(({ submitted }) => submitted.action === 'WRITE_DATA_FOR');
  const alone = averageGas(writes.filter(({ carried }) => carried === 1));
  const gathered = averageGas(writes.filter(({ carried }) => carried > 1));
  const batches = executions.filter(({ submitted }) => submitted.action === 'BATCH_MULTI_USER_WRITE_DATA');
  const entries = batches.reduce((sum, { events }) => sum + events.length, 0);
  const gas = batches.reduce((sum, execution) => sum + execution.gas, 0n);
  const queued = entries === 0 ? '–' : formatCount(gas / BigInt(entries));
  return `Gas per write: ${alone} alone · ${gathered} gathered by a relayer · ${queued} in a multi-user batch`;
}

/** Writes a line for each request. */
export function formatRequests(executions: readonly Execution[]): readonly string[] {
  const columns = [left('#'), left('Action'), left('status'), right('gas'), right('of'), left('transaction')];
  const rows = executions.map(({ submitted, record, gas, carried }, index) => [
    `${index + 1}`,
    submitted.action,
    record?.status ?? 'unknown',
    formatCount(gas),
    `${carried}`,
    record?.txHash ?? record?.errorMessage ?? '',
  ]);
  return formatTable(columns, rows);
}

/** Writes what relayers and treasury have got. */
export function formatEarnings(earnings: readonly Earnings[], treasury: bigint): readonly string[] {
  const columns = [
    left('Who'),
    right('requests'),
    right('transactions'),
    right('credits'),
    right('worth (ether)'),
    right('gas paid (ether)'),
  ];
  const rows = earnings.map(({ name, isOfficial, requests, transactions, credits, worth, spent }) => [
    `${name}, ${isOfficial ? 'official' : 'not official'}`,
    `${requests}`,
    `${transactions}`,
    formatCredits(credits),
    formatEther(worth),
    formatEther(spent),
  ]);
  return formatTable(columns, [...rows, ['treasury', '', '', formatCredits(treasury)]]);
}

/** Writes what was compared. */
export function formatChecks(checks: readonly Checked[]): readonly string[] {
  return checks.map(({ claim, found, isTrue }) => `${isTrue ? '✓' : '✗'} ${claim}: ${found}`);
}
