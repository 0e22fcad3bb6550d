import { needWord, printAnswer } from './answers.ts';
import type { Command, CommandContext } from './command.ts';
import { plain, writeTable } from './writeTable.ts';

const pathOf = (address: string, act = '') => `/admin/relayers/${encodeURIComponent(address)}${act}`;

async function list({ call, json, print }: CommandContext): Promise<void> {
  const body = await call({ path: '/admin/relayers' });
  if (json) return print(JSON.stringify(body));
  // The gateway answers with a list of records.
  const relayers = (body.relayers ?? []) as readonly Record<string, unknown>[];
  const rows = relayers.map(({ address, label, createdAt, suspendedAt, suspendReason }) => [
    ...[address, label, createdAt],
    suspendedAt === undefined ? '' : `since ${plain(suspendedAt)}: ${plain(suspendReason)}`,
  ]);
  print(writeTable([['ADDRESS', 'LABEL', 'ADDED', 'SUSPENDED'], ...rows]));
}

/** Operators' commands on the whitelist. */
export const whitelistCommands: readonly Command[] = [
  {
    name: 'whitelist add',
    takes: 'ADDRESS',
    summary: 'lets a relayer claim, or replaces its label',
    options: { label: 'a name for people' },
    async run(context) {
      const address = needWord(context, 'ADDRESS');
      const { label } = context.options;
      const json = { address, ...(label !== undefined && { label }) };
      const body = await context.call({ method: 'POST', path: '/admin/relayers', json });
      printAnswer(context, body, `${plain(body.address)} is on the whitelist.`);
    },
  },
  { name: 'whitelist list', takes: '', summary: 'shows every relayer', options: {}, run: list },
  {
    name: 'whitelist remove',
    takes: 'ADDRESS',
    summary: 'refuses a relayer from now on; what it claimed stays claimed',
    options: {},
    async run(context) {
      const body = await context.call({ method: 'DELETE', path: pathOf(needWord(context, 'ADDRESS')) });
      printAnswer(context, body, plain(body.message));
    },
  },
  {
    name: 'whitelist suspend',
    takes: 'ADDRESS',
    summary: 'refuses a relayer until it is resumed',
    options: { reason: 'why; needed' },
    async run(context) {
      const path = pathOf(needWord(context, 'ADDRESS'), '/suspend');
      const body = await context.call({ method: 'POST', path, json: { reason: context.options.reason ?? '' } });
      printAnswer(context, body, `${plain(body.address)} is suspended.`);
    },
  },
  {
    name: 'whitelist resume',
    takes: 'ADDRESS',
    summary: 'ends a suspension',
    options: {},
    async run(context) {
      const body = await context.call({ method: 'POST', path: pathOf(needWord(context, 'ADDRESS'), '/resume') });
      printAnswer(context, body, `${plain(body.address)} may claim again.`);
    },
  },
];
