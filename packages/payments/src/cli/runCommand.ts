import { chmodSync, existsSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory, syncDirectorySync } from '@prism-gateway/node';
import type { Environment } from '@prism-gateway/node/settings';
import { isAddress } from 'viem';
import { writeLedger } from '../books/ledger.ts';
import { writeCsv } from '../books/writeCsv.ts';
import { openPaymentJournal, type PaymentJournal } from '../journal/openPaymentJournal.ts';
import { PAID_BY_HAND } from '../journal/payment.ts';
import { OPEN_STATES, PAYMENT_STATES } from '../journal/paymentState.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { closePayment, holdPayment, releasePayment, resumeKey } from './decide.ts';
import { deployPayouts } from './deployPayouts.ts';
import { describePayment, describeStory, formatRows, formatStory, timeOf } from './describePayments.ts';
import { parseWords, UsageError, type Words } from './parseWords.ts';
import { readBalances } from './readBalances.ts';
import { showDifferences } from './showDifferences.ts';

interface CommandContext {
  readonly settings: Settings;
  readonly journal: PaymentJournal;
  readonly folder: string;
  readonly words: Words;
  readonly environment: Environment;
  readonly print: (text: string) => void;
}

type Command = (context: CommandContext) => number | Promise<number>;

const stringify = (value: unknown) => JSON.stringify(value, undefined, 2);

function intentOf({ words }: CommandContext): string {
  const [paymentIntentId] = words.plain;
  if (paymentIntentId === undefined) throw new UsageError('Name the payment intent.');
  return paymentIntentId;
}

function decisionOf({ words }: CommandContext): { readonly who: string; readonly why: string } {
  return { who: words.values.get('who') ?? userInfo().username, why: words.values.get('why') ?? 'no reason given' };
}

async function showStatus({ settings, journal, folder, words, print }: CommandContext): Promise<number> {
  const waiting = journal.list([...OPEN_STATES, 'given back', 'held', 'refused']).map(describePayment);
  const counts = Object.fromEntries(journal.countStates());
  // One that is held waits as well, for a person.
  const [oldest] = [...journal.list([...OPEN_STATES, 'held']), ...journal.listWaiting()].toSorted(
    (one, other) => one.seenAtMs - other.seenAtMs,
  );
  const balances = await readBalances(settings, journal);
  const payment = oldest === undefined ? undefined : describePayment(oldest);
  const mail = journal.outbox
    .listBacklogs()
    .map(({ channel, count, sinceMs }) => ({ channel, count, since: timeOf(sinceMs) }));
  const status = { folder, owner: journal.fact('owner') ?? '', balances, oldest: payment, counts, waiting, mail };
  if (words.flags.has('json')) print(stringify(status));
  else {
    const lines = Object.entries(balances ?? {}).map(([name, value]) => `${name}: ${value}`);
    const sums = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
    print(
      [
        waiting.length === 0 ? 'Nothing is under way.' : formatRows(waiting),
        '',
        sums.join(', ') || 'No payments yet.',
        payment === undefined
          ? ''
          : `Oldest that is not paid: ${payment.payment}, ${payment.state}, listed ${payment.listed}.`,
        ...mail.map(({ channel, count, since }) => `${count} alerts wait for ${channel}, the oldest since ${since}.`),
        ...lines,
        `Journal of ${status.owner || 'nobody yet'} in ${folder}.`,
      ]
        .filter((line, place) => line !== '' || place === 1)
        .join('\n'),
    );
  }
  return 0;
}

function listPayments({ journal, words, print }: CommandContext): number {
  const wanted = words.values.get('state');
  const state = PAYMENT_STATES.find((known) => known === wanted);
  if (wanted !== undefined && state === undefined)
    throw new UsageError(`There is no state ${wanted}: ${PAYMENT_STATES.join(', ')}.`);
  const rows = journal.list(state === undefined ? undefined : [state]).map(describePayment);
  print(words.flags.has('json') ? stringify(rows) : formatRows(rows));
  return 0;
}

/** Lists the story of payments as each journal has it: by intent, wallet or transaction. */
function showPayment(context: CommandContext): number {
  const { journal, settings, words, print } = context;
  const [query] = words.plain;
  if (query === undefined) throw new UsageError('Name the payment intent, a wallet, or a transaction.');
  const linkTo = (hash: string) =>
    settings.EXPLORER_URL === undefined ? hash : `${settings.EXPLORER_URL.replace(/\/$/, '')}/tx/${hash}`;
  const describeAll = (one: PaymentJournal) => one.find(query).map((payment) => describeStory(one, payment, linkTo));
  const others = (words.values.get('journals') ?? '').split(',').filter((folder) => folder !== '');
  const stories = [
    ...describeAll(journal),
    ...others.flatMap((folder) => {
      const opened = openJournalOf({ DATA_DIR: folder });
      try {
        return describeAll(opened.journal);
      } finally {
        opened.journal.close();
      }
    }),
  ];
  if (stories.length === 0) throw new UsageError(`The journal has no payment ${query}.`);
  print(words.flags.has('json') ? stringify(stories) : stories.map(formatStory).join('\n\n'));
  return 0;
}

function showLedger({ journal, words, print }: CommandContext): number {
  const since = words.values.get('since') ?? '1970-01-01';
  const sinceMs = Date.parse(since);
  if (Number.isNaN(sinceMs)) throw new UsageError('--since: expected a day or a time, like 2027-01-31.');
  const { lines, days } = writeLedger(journal, sinceMs);
  if (words.flags.has('json')) print(stringify({ payments: lines, days }));
  else if (words.flags.has('csv')) print(writeCsv(lines));
  else
    print(
      `${formatRows(lines.map((line) => ({ ...line })))}\n\n${formatRows(days.map((day) => ({ ...day, payments: `${day.payments}` })))}`,
    );
  return 0;
}

/** Prints what has been done: the sentence for people, all of it for programs. */
function printOutcome(
  { words, print }: Pick<CommandContext, 'words' | 'print'>,
  done: Readonly<Record<string, unknown>> & { readonly message: string },
): number {
  print(words.flags.has('json') ? stringify(done) : done.message);
  return 0;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  status: showStatus,
  list: listPayments,
  show: showPayment,
  ledger: showLedger,
  reconcile: showDifferences,
  release(context) {
    const paymentIntentId = intentOf(context);
    const acceptsListed = context.words.flags.has('accept-listed');
    const message = releasePayment(context.journal, { paymentIntentId, ...decisionOf(context), acceptsListed });
    return printOutcome(context, { paymentIntentId, message });
  },
  hold(context) {
    const paymentIntentId = intentOf(context);
    const message = holdPayment(context.journal, { paymentIntentId, ...decisionOf(context) });
    return printOutcome(context, { paymentIntentId, message });
  },
  close(context) {
    const { flags } = context.words;
    if (flags.has('refunded') === flags.has('paid'))
      throw new UsageError('Say --refunded or --paid: a closed payment is never paid.');
    const paymentIntentId = intentOf(context);
    const closing = flags.has('paid') ? PAID_BY_HAND : 'refunded';
    const message = closePayment(context.journal, { paymentIntentId, ...decisionOf(context), closing });
    return printOutcome(context, { paymentIntentId, message });
  },
  resume: (context) => printOutcome(context, { message: resumeKey(context.journal, decisionOf(context)) }),
  backup(context) {
    const [target] = context.words.plain;
    if (target === undefined) throw new UsageError('Name a folder for the backup.');
    const files = backUp(context, target);
    return printOutcome(context, { files, message: files.join('\n') });
  },
};

/** The one command that needs no journal. */
const DEPLOY = 'deploy-payouts';

async function deploy(words: Words, { environment, print }: CommandWiring): Promise<number> {
  const given = words.values.get('owner');
  if (given !== undefined && !isAddress(given)) throw new UsageError('--owner: expected an address with its checksum.');
  const address = await deployPayouts(parseSettings(DEPLOY, environment), given);
  const message = `Payouts is at ${address}. Set PAYOUTS_ADDRESS=${address} in every instance.`;
  return printOutcome({ words, print }, { address, message });
}

/** The program's part of a command's context. */
interface CommandWiring {
  readonly environment: Environment;
  readonly print: (text: string) => void;
}

/**
 * Runs a command that looks after the journal; the payer may be at work meanwhile.
 *
 * @returns the process's exit code; undefined if there is no such command
 * @throws UsageError, UnreachedError, SettingsError, JournalFileError; viem's errors
 * @see docs/payments.md, "Install it"
 */
export async function runCommand(argv: readonly string[], wiring: CommandWiring): Promise<number | undefined> {
  const [name = '', ...rest] = argv;
  const command = COMMANDS[name];
  if (command === undefined && name !== DEPLOY) return undefined;
  const words = parseWords(rest);
  if (name === DEPLOY) return await deploy(words, wiring);
  const settings = parseSettings('status', wiring.environment);
  const { journal, folder } = openJournalOf(settings);
  try {
    return await command?.({ ...wiring, settings, journal, folder, words });
  } finally {
    journal.close();
  }
}

/**
 * Opens the journal of an instance, which may be at work meanwhile.
 *
 * @returns the journal, and the folder it is in
 * @throws UsageError if there is none
 */
function openJournalOf(settings: Pick<Settings, 'DATA_DIR'>): {
  readonly journal: PaymentJournal;
  readonly folder: string;
} {
  const folder = resolve(settings.DATA_DIR);
  const file = join(folder, 'payments.db');
  if (!existsSync(file)) throw new UsageError(`There is no journal in ${folder} yet; DATA_DIR names the folder.`);
  return { journal: openPaymentJournal({ file, now: Date.now }), folder };
}

function copyDatabase(from: string, to: string): void {
  const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    // Not `using`: the checker of imports cannot read it.
    database.close();
  }
}

/**
 * Copies the journal with its outbox, and the sender's journal, while the payer is at work.
 *
 * @param target - a folder without a backup in it; made if it is missing
 * @throws UsageError if there is a backup already, or no room for one; then nothing of it is left. DirectoryError
 */
function backUp(
  source: { readonly journal: PaymentJournal; readonly folder: string },
  target: string,
): readonly string[] {
  const folder = resolve(target);
  makeDirectory(folder);
  const files = ['payments.db', 'sender.db'].map((name) => join(folder, name));
  const [payments = '', sender = ''] = files;
  if (files.some((file) => existsSync(file)))
    throw new UsageError(`There is a backup in ${folder} already; name another folder.`);
  const senderJournal = join(source.folder, 'sender.db');
  const written = existsSync(senderJournal) ? files : [payments];
  try {
    // The sender's last: it may know more than the journal, and never less.
    source.journal.backUp(payments);
    if (written.length > 1) copyDatabase(senderJournal, sender);
    for (const file of written) chmodSync(file, 0o600);
    syncDirectorySync(folder);
  } catch (error) {
    for (const file of files) rmSync(file, { force: true });
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new UsageError(
      `There is no backup in ${folder}: ${reason}. Nothing of it is left; make room, or name another.`,
    );
  }
  return written;
}
