import type { Command } from './command.ts';
import { writeTable } from './writeTable.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

const rowsOf = (value: unknown): Rows => (Array.isArray(value) ? value : []);
const shareOf = (used: unknown, most: unknown) =>
  typeof used === 'number' && typeof most === 'number' && most > 0 ? `${Math.floor((100 * used) / most)} %` : '';

/** Limits by name, each with what it has refused. */
function writeLimits(limits: object, refusals: Rows): string {
  const rows = Object.entries(limits).map(([name, most]) => {
    const { lastMinute = 0, lastHour = 0 } = refusals.find(({ limit }) => limit === name) ?? {};
    return [...[name, most === 0 ? 'none' : most, lastMinute, lastHour]];
  });
  return writeTable([['LIMIT', 'MOST A MINUTE', 'REFUSED, LAST MINUTE', 'LAST HOUR'], ...rows]);
}

function writeService(service: Readonly<Record<string, unknown>>): string {
  const { limits, refusals, clients, budgets, waiting, since } = service;
  const nearest = rowsOf(clients).map(({ client, limit, used, most }) => [
    ...[client, limit, used, most, shareOf(used, most)],
  ]);
  const bounds = rowsOf(budgets).map(({ name, used, most, ended }) => [
    ...[name, used, most ?? 'none', shareOf(used, most), ended],
  ]);
  return [
    writeLimits(limits ?? {}, rowsOf(refusals)),
    writeTable([['NEAREST TO A LIMIT', 'LIMIT', 'IN USE', 'MOST', 'SHARE'], ...nearest]),
    writeTable([['BUDGET', 'IN USE', 'MOST', 'SHARE', 'ENDED TO MAKE ROOM'], ...bounds]),
    `Calls that wait: ${waiting}. All of it as the process knows that has answered, which counts since ${since}.`,
  ].join('\n\n');
}

/** The limits in force, and what is in use. */
export const limitsCommand: Command = {
  name: 'limits',
  takes: '',
  summary: 'shows limits, who is near to one, and budgets',
  options: {},
  async run({ call, json, print }) {
    const service = await call({ path: '/admin/service' });
    print(json ? JSON.stringify(service) : writeService(service));
  },
};
