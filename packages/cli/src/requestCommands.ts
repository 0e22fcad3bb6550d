import { setTimeout as pause } from 'node:timers/promises';
import { needWord, printAnswer } from './answers.ts';
import type { Command, CommandContext } from './command.ts';
import { CommandError } from './createAdminClient.ts';
import { writeStats } from './statsCommand.ts';
import { storyCommand } from './storyCommand.ts';
import { plain, writeTable } from './writeTable.ts';

/** Least time between two looks of the live view, in milliseconds. */
const LEAST_PAUSE_MS = 500;
/** How long one look waits for something to happen, in seconds; the gateway takes no longer one. */
const WAIT_SECONDS = '25';
/** Rows of each table of the live view: strangers name chains, and whoever floods them must not push the rest off the screen. */
const SHOWN_ROWS = 10;
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

const FILTERS = {
  status: 'pending, processing, success or failed',
  chain: 'a chain, as eip155:1',
  signer: 'an address',
  relayer: 'who holds or held the claim',
  transaction: 'the hash that was reported',
  limit: '1 to 100, default 20',
  order: 'desc, the newest first, or asc; default desc',
  after: 'the lastKey of the page before',
} as const;

const pathOf = (requestId: string, act = '') => `/admin/requests/${encodeURIComponent(requestId)}${act}`;

async function list({ call, options, json, print }: CommandContext): Promise<void> {
  const { chain: chainName, after: lastKey, transaction: txHash, status, signer, relayer, limit, order } = options;
  const query = { status, chainName, signer, relayer, txHash, limit, order: order ?? 'desc', lastKey };
  const body = await call({ path: '/admin/requests', query });
  if (json) return print(JSON.stringify(body));
  // The gateway answers with a page of records.
  const items = (body.items ?? []) as readonly Record<string, unknown>[];
  const rows = items.map(({ requestId, status: state, chainName: chain, action, createdAt, claimedBy }) => [
    ...[requestId, state, chain, action, createdAt, claimedBy],
  ]);
  print(writeTable([['REQUEST', 'STATUS', 'CHAIN', 'ACTION', 'CREATED', 'CLAIMED BY'], ...rows]));
  if (typeof body.lastKey === 'string') print(`There are more: --after ${plain(body.lastKey)}`);
}

/** The oldest pending requests, which operators look at longest. */
async function writeOldest({ call, signal }: CommandContext): Promise<string> {
  const query = { status: 'pending', limit: String(SHOWN_ROWS) };
  const { items } = await call({ path: '/admin/requests', query, signal });
  // The gateway answers with a page of records.
  const rows = ((items ?? []) as readonly Record<string, unknown>[]).map(
    ({ requestId, chainName, action, createdAt }) => [...[requestId, chainName, action, createdAt]],
  );
  return writeTable([['OLDEST PENDING', 'CHAIN', 'ACTION', 'CREATED'], ...rows]);
}

/** Draws the live view once, when the queue has moved. @returns the version that was seen */
async function draw(context: CommandContext, seen: string | undefined): Promise<string> {
  const { call, json, print, isTerminal, signal } = context;
  const query = seen === undefined ? {} : { seen, wait: WAIT_SECONDS };
  const stats = await call({ path: '/admin/stats', query, signal });
  const version = String(stats.version);
  if (json && version !== seen) print(JSON.stringify(stats));
  else if (!json) {
    const screen = `${new Date().toISOString()}\n\n${writeStats(stats, SHOWN_ROWS)}\n\n${await writeOldest(context)}\n`;
    print(`${isTerminal ? CLEAR_SCREEN : ''}${screen}`);
  }
  return version;
}

/** Whether a gateway that has answered before may do so again: it is being restarted, or has too much to do. */
const mayPass = (error: unknown): error is CommandError =>
  error instanceof CommandError && (error.code === 'COMMAND_UNREACHABLE' || error.code === 'COMMAND_BUSY');

/**
 * Shows the queue, and again whenever it has moved, until it is stopped. People wait for a gateway that is gone; a program learns of it by
 * the end.
 */
async function watch(context: CommandContext): Promise<void> {
  const { json, print, isTerminal, signal } = context;
  let seen: string | undefined;
  try {
    while (!signal.aborted) {
      try {
        seen = await draw(context, seen);
      } catch (error) {
        if (json || seen === undefined || !mayPass(error)) throw error;
        print(`${isTerminal ? CLEAR_SCREEN : ''}${new Date().toISOString()}\n\n${error.message}\nTrying again …\n`);
      }
      await pause(LEAST_PAUSE_MS, undefined, { signal });
    }
  } catch (error) {
    // Stopped while it waited.
    if (!signal.aborted) throw error;
  }
}

/** Operators' commands on requests. */
export const requestCommands: readonly Command[] = [
  { name: 'requests list', takes: '', summary: 'shows requests by any filter, or all', options: FILTERS, run: list },
  storyCommand,
  { name: 'requests watch', takes: '', summary: 'shows the queue as it moves, until Ctrl-C', options: {}, run: watch },
  {
    name: 'requests release',
    takes: 'REQUEST_ID',
    summary: 'gives a claimed request back',
    options: {},
    async run(context) {
      const path = pathOf(needWord(context, 'REQUEST_ID'), '/release');
      const body = await context.call({ method: 'POST', path });
      printAnswer(context, body, `${plain(body.requestId)} is pending again.`);
    },
  },
  {
    name: 'requests fail',
    takes: 'REQUEST_ID',
    summary: 'ends a claimed request as failed',
    options: { message: 'why, which the user sees; needed' },
    async run(context) {
      const path = pathOf(needWord(context, 'REQUEST_ID'), '/fail');
      const body = await context.call({ method: 'POST', path, json: { errorMessage: context.options.message ?? '' } });
      printAnswer(context, body, `${plain(body.requestId)} has failed.`);
    },
  },
  {
    name: 'requests reopen',
    takes: 'REQUEST_ID',
    summary: 'makes pending again what a since suspended relayer reported failed',
    options: {},
    async run(context) {
      const path = pathOf(needWord(context, 'REQUEST_ID'), '/reopen');
      const body = await context.call({ method: 'POST', path });
      printAnswer(context, body, `${plain(body.requestId)} is pending again.`);
    },
  },
  {
    name: 'requests purge',
    takes: 'REQUEST_ID',
    summary: 'removes a request that nobody holds, for good',
    options: { yes: 'the same id once more, which confirms it' },
    async run(context) {
      const requestId = needWord(context, 'REQUEST_ID');
      if (context.options.yes !== requestId) {
        throw new CommandError('COMMAND_USAGE', `It cannot be undone: confirm with --yes ${plain(requestId)}.`);
      }
      const body = await context.call({ method: 'DELETE', path: pathOf(requestId) });
      printAnswer(context, body, plain(body.message));
    },
  },
];
