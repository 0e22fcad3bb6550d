import { readFileSync } from 'node:fs';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import type { Command } from './command.ts';
import { CommandError, createAdminClient } from './createAdminClient.ts';
import { requestCommands } from './requestCommands.ts';
import { statsCommand } from './statsCommand.ts';
import { statusCommand } from './statusCommand.ts';
import { webhookCommands } from './webhookCommands.ts';
import { whitelistCommands } from './whitelistCommands.ts';
import { SHELLS, writeCompletion } from './writeCompletion.ts';
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
const limitsCommand: Command = {
  name: 'limits',
  takes: '',
  summary: 'shows limits, who is near to one, and budgets',
  options: {},
  async run({ call, json, print }) {
    const service = await call({ path: '/admin/service' });
    print(json ? JSON.stringify(service) : writeService(service));
  },
};

/** The program's surroundings. */
export interface CliSurroundings {
  /** Words of the command line after the program's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Takes a line for standard error. */
  readonly complain: (line: string) => void;
  readonly isTerminal: boolean;
  readonly signal: AbortSignal;
}

/** Every command of this program. */
export const commands: readonly Command[] = [
  ...whitelistCommands,
  ...requestCommands,
  ...webhookCommands,
  statusCommand,
  statsCommand,
  limitsCommand,
];

const COMMON = `  --url URL         the gateway; default PUBLIC_URL, else http://HOST:PORT, else http://127.0.0.1:8787
  --key-file FILE   holds the administrator's key; default the first one of ADMIN_API_KEY, else the development key
  --json            for programs: the gateway's answer, one line
  --help            this text`;

function writeHelp(chosen: readonly Command[]): string {
  const lines = chosen.map(({ name, takes, summary, options, flags }) => {
    const own = Object.entries({ ...options, ...flags }).map(([option, text]) => `      --${option}: ${text}`);
    return [`  prism ${name} ${takes}`.trimEnd().padEnd(40).concat(summary), ...own].join('\n');
  });
  return `${lines.join('\n')}\n\n${COMMON}`;
}

/** The address that a gateway of the same settings answers at. */
function defaultUrl({ PUBLIC_URL, HOST, PORT }: CliSurroundings['env']): string {
  if (PUBLIC_URL) return PUBLIC_URL;
  // One cannot call every interface; the loopback one is among them.
  const host = !HOST || HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT || '8787'}`;
}

function readKey(file: string | undefined, { ADMIN_API_KEY }: CliSurroundings['env']): string {
  // An argument would stand in the list of processes, which everybody may read.
  if (file === undefined) return ADMIN_API_KEY?.split(',')[0]?.trim() || 'change-me-admin-key';
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new CommandError('COMMAND_USAGE', `--key-file ${file} cannot be read.`, { cause });
  }
}

function findCommand(
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const command = commands.find(({ name }) => name === args.slice(0, length).join(' '));
    if (command !== undefined) return { command, rest: args.slice(length) };
  }
  return undefined;
}

function readOptions({ options, flags: switches = {} }: Pick<Command, 'options' | 'flags'>, args: readonly string[]) {
  const texts = ['url', 'key-file', ...Object.keys(options)].map((name) => [name, { type: 'string' }] as const);
  const own = Object.keys(switches).map((name) => [name, { type: 'boolean' }] as const);
  const flags = {
    ...Object.fromEntries(own),
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const given = { args: [...args], allowPositionals: true, options: { ...Object.fromEntries(texts), ...flags } };
  return parseCommandLine(given);
}

async function runCommand(surroundings: CliSurroundings, command: Command, args: readonly string[]): Promise<void> {
  const { env, print, isTerminal, signal } = surroundings;
  const { takes } = command;
  const { values, positionals } = readOptions(command, args);
  if (values.help === true) return print(writeHelp([command]));
  const more = positionals[takes === '' ? 0 : takes.split(' ').length];
  if (more !== undefined) throw new CommandError('COMMAND_USAGE', `It takes no argument "${more}". Try --help.`);
  // All but the two flags take a text.
  const options = values as Readonly<Record<string, string | undefined>>;
  const url = (options.url ?? defaultUrl(env)).replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new CommandError('COMMAND_USAGE', `--url ${url} is no URL.`);
  const call = createAdminClient({ url, key: readKey(options['key-file'], env) });
  await command.run({ call, words: positionals, options, json: values.json === true, print, isTerminal, signal });
}

const COMPLETION_HELP = `Prints the completion of this command line: programs, their commands and options.

  prism completion bash    add to ~/.bashrc: source <(npx prism completion bash)
  prism completion zsh     add to ~/.zshrc: source <(npx prism completion zsh)

It is a script, and takes no --json.`;

function complete({ args, print }: CliSurroundings): void {
  const [, shell, ...programs] = args;
  if (shell === '--help' || shell === '-h') {
    print(COMPLETION_HELP);
    return;
  }
  const known = SHELLS.find((one) => one === shell);
  if (known === undefined) throw new CommandError('COMMAND_USAGE', `Give one of ${SHELLS.join(', ')}.`);
  print(writeCompletion(known, { programs, commands }));
}

/** Says which command there is not, or what a group of them wants. */
function describeUnknown([group = '', name = '']: readonly string[]): string {
  const names = commands.flatMap((one) => (one.name.startsWith(`${group} `) ? [one.name.slice(group.length + 1)] : []));
  if (names.length === 0) return `There is no command ${group}.`;
  const which = names.join(', ');
  return name === '' || name.startsWith('-')
    ? `Say which of ${group}: ${which}.`
    : `There is no command ${group} ${name}: ${which}.`;
}

/**
 * Runs the operator's command line.
 *
 * @returns the exit status: 0, 1 for a refusal, 2 for a wrong command line
 */
export async function runCli(surroundings: CliSurroundings): Promise<number> {
  const { args, print, complain } = surroundings;
  try {
    if (args[0] === 'completion') complete(surroundings);
    else {
      const found = findCommand(args);
      const group = commands.filter(({ name }) => name.startsWith(`${args[0]} `));
      if (found !== undefined) await runCommand(surroundings, found.command, found.rest);
      else if (args.includes('--help') || args.includes('-h')) print(writeHelp(group.length > 0 ? group : commands));
      else throw new CommandError('COMMAND_USAGE', `${describeUnknown(args)} Try --help.`);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof CommandLineError)) throw error;
    complain(writeFailure(args, error.message));
    return error.code === 'COMMAND_USAGE' ? USAGE_STATUS : 1;
  }
}
