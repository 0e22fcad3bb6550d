import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandLineError, parseCommandLine } from '@prism-gateway/node/command-line';
import type { WrittenTransaction } from '@prism-gateway/sender';
import {
  type Counts,
  createJournalView,
  type ForeignTransactions,
  type HeldRequest,
  type JournalView,
  type OutlierNode,
  type RequestStory,
  type WrittenExceeded,
  type WrittenVerdict,
} from '../journal/createJournalView.ts';
import { journalPath } from '../settings/settings.ts';
import { type ChainStatus, readStatus } from '../status/readStatus.ts';
import { readStory } from '../status/readStory.ts';

/** How long the relayer at work may take to report its health, in milliseconds. */
const HEALTH_TIMEOUT_MS = 2000;
const DEFAULT_DATA_DIR = './data';
const DEFAULT_METRICS_PORT = '9464';
const JSON_OPTION = { json: { type: 'boolean' } } as const;

export interface CommandInput {
  /** The words that follow `relayer` on the command line. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line. */
  readonly print: (text: string) => void;
}

/** Whether a relayer is at work here, and what it says of its health. */
async function askHealth(port: string): Promise<string> {
  if (!/^[1-9]\d{0,4}$/.test(port)) return 'not asked: METRICS_PORT names no port';
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    return (await response.text()).trim();
  } catch {
    return `no relayer answers on port ${port}; this is what its journals hold`;
  }
}

function useJournals<T>(environment: CommandInput['environment'], use: (journals: readonly StoredJournal[]) => T): T {
  const dataDir = environment.DATA_DIR || DEFAULT_DATA_DIR;
  const journals = openJournals(dataDir);
  try {
    if (journals.length > 0) return use(journals);
  } finally {
    for (const journal of journals) journal.close();
  }
  throw new Error(`There is no relayer's journal in ${dataDir}: set DATA_DIR to its folder.`);
}

/**
 * `relayer status [--json]`: what each relayer of a folder holds, has evaluated and why, waits for, and has spent and earned.
 *
 * @throws Error if there is no journal
 */
export async function showStatus({ args, environment, print }: CommandInput): Promise<void> {
  const { values } = parseCommandLine({ args: [...args], options: JSON_OPTION });
  const health = await askHealth(environment.METRICS_PORT || DEFAULT_METRICS_PORT);
  const chains = useJournals(environment, (journals) =>
    journals.map(({ relayer, chainId, view }) => ({ relayer, chainId, ...readStatus(view, Date.now()) })),
  );
  if (values.json === true) {
    print(JSON.stringify({ health, chains }, undefined, 2));
    return;
  }
  print(`Health: ${health}`);
  for (const chain of chains) print(`Relayer ${chain.relayer} on chain ${chain.chainId}\n${formatStatus(chain)}`);
}

/**
 * `relayer explain REQUEST_ID [--json]`: all that the journals know of one request.
 *
 * @throws Error if they know nothing of it
 */
export function explainRequest({ args, environment, print }: CommandInput): void {
  const given = parseCommandLine({ args: [...args], allowPositionals: true, options: JSON_OPTION });
  const [requestId, more] = given.positionals.map((word) => word.toLowerCase());
  if (more !== undefined) throw new CommandLineError(`It takes no argument "${more}". Try --help.`);
  if (requestId === undefined) throw new CommandLineError('Say which request: relayer explain REQUEST_ID. Try --help.');
  const stories = useJournals(environment, (journals) =>
    journals.flatMap(({ relayer, chainId, view, senderPath }) => {
      const story = readStory(view, senderPath, requestId);
      return story === undefined ? [] : [{ relayer, chainId, ...story }];
    }),
  );
  if (stories.length === 0) throw new Error(`No relayer of this folder has seen request ${requestId}.`);
  const write = (story: (typeof stories)[number]) =>
    `${formatStory(story, story.transactions)}\n  relayer ${story.relayer} on chain ${story.chainId}`;
  print(given.values.json === true ? JSON.stringify(stories, undefined, 2) : stories.map(write).join('\n'));
}

const at = (ms: number) => new Date(ms).toISOString();

function listCounts(counts: Counts): string {
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return sorted.length === 0 ? '' : `: ${sorted.map(([name, count]) => `${name} ${count}`).join(', ')}`;
}

function describeHeld({ requestId, state, action, signer, claimedAtMs, attempts }: HeldRequest): string {
  const tried = attempts === 0 ? '' : `, attempt ${attempts}`;
  return `    ${requestId}  ${state}  ${action} of ${signer}, claimed ${at(claimedAtMs)}${tried}`;
}

function describeWaiting({ requestId, verdict, waitsFor = '', message }: WrittenVerdict): string {
  return `    ${requestId}  ${verdict}: waits for ${waitsFor}${message === undefined ? '' : ` (${message})`}`;
}

function describeExceeded({ budget, party, lost, limit, untilMs }: WrittenExceeded): string {
  const whose = party === '' ? '' : ` of ${party}`;
  return `    budget of ${budget}${whose} is used up: ${lost} of ${limit}; left alone until ${at(untilMs)}`;
}

function describeForeign({ total, last }: ForeignTransactions): readonly string[] {
  if (last === undefined) return [];
  const which = last.txHash === undefined ? '' : `, ${last.txHash}`;
  return [
    `  has found ${total} transactions of its key that it has not made, the last ${at(last.atMs)} (account nonce ${last.nonce}${which})`,
  ];
}

function describeOutlier({ node, says, times, atMs }: OutlierNode): string {
  return `  ${node} was alone ${times === 1 ? 'once' : `${times} times`} with what it said, the last time ${at(atMs)}: ${says}`;
}

/** Writes a status for people. @returns lines, each of them indented */
function formatStatus(status: ChainStatus): string {
  const {
    held,
    evaluated,
    waiting,
    transactions,
    spentEther,
    earnedCredits,
    foreignTransactions,
    outlierNodes,
    losses,
  } = status;
  return [
    `  holds ${held.total}${listCounts(held.byState)}`,
    ...held.requests.map(describeHeld),
    `  has evaluated ${evaluated.total}${listCounts(evaluated.byVerdict)}`,
    ...waiting.map(describeWaiting),
    `  has spent ${spentEther} ether in ${transactions} transactions, and earned ${earnedCredits} credits`,
    `  has lost ${losses.lastHourEther} ether in the last hour, and ${losses.lastDayEther} in the last day`,
    ...losses.exceeded.map(describeExceeded),
    ...describeForeign(foreignTransactions),
    ...outlierNodes.map(describeOutlier),
  ].join('\n');
}

function describeVerdict({
  verdict,
  message,
  waitsFor,
  evaluatedAtMs,
  recheckAtMs,
}: WrittenVerdict): readonly string[] {
  return [
    `  evaluated ${at(evaluatedAtMs)}: ${verdict}${message === undefined ? '' : `: ${message}`}`,
    ...(waitsFor === undefined ? [] : [`  waits for ${waitsFor}`]),
    ...(recheckAtMs === undefined ? [] : [`  looked at again ${at(recheckAtMs)} at the earliest`]),
  ];
}

function describeSubmission({
  intentId,
  gasLimit,
  requests,
  others,
  ...rest
}: RequestStory['submissions'][number]): string {
  const { maxFeePerGas, expiresAtMs, atMs } = rest;
  const bounds = [
    ...(maxFeePerGas === undefined ? [] : [`at most ${maxFeePerGas} wei a unit`]),
    ...(expiresAtMs === undefined ? [] : [`cancelled from ${at(expiresAtMs)} on`]),
  ].map((bound) => `, ${bound}`);
  const count = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  const companions = others.length === 0 ? '' : `, with ${others.join(' ')}`;
  return `  ${at(atMs)}  intent ${intentId}: gas limit ${gasLimit}${bounds.join('')}, ${count}${companions}`;
}

function describeTransaction({ txHash, nonce, kind, maxFeePerGas, signedAtMs, ...rest }: WrittenTransaction): string {
  const { intentId, state, failure, mined } = rest;
  const what = kind === 'cancel' ? 'cancel' : 'transaction';
  const most = maxFeePerGas === undefined ? '' : `, at most ${maxFeePerGas} wei a unit`;
  const why = failure === undefined ? '' : ` (${failure})`;
  const where = mined === undefined ? '' : `, in block ${mined.blockNumber} since ${at(mined.atMs)}`;
  return `  ${at(signedAtMs)}  ${what} ${txHash}: account nonce ${nonce}${most}; intent ${intentId} is ${state}${where}${why}`;
}

/** Writes all that is known of one request for people. @param transactions - that were signed for it */
function formatStory(story: RequestStory, transactions: readonly WrittenTransaction[]): string {
  const { requestId, verdict, request, moves, submissions, losses, budgets } = story;
  const held = request && [
    `  ${request.action} of ${request.signer}: ${request.state}, handed to the sender ${request.attempts} times`,
    `  signatures: ${JSON.stringify(request.signatures)}`,
    ...(request.gas === undefined ? [] : [`  simulated gas: ${request.gas}`]),
    ...(request.outcome === undefined ? [] : [`  outcome: ${JSON.stringify(request.outcome)}`]),
  ];
  return [
    `Request ${requestId}`,
    ...(held ?? [`  ${verdict?.action} of ${verdict?.signer}: never claimed by this relayer`]),
    ...(verdict === undefined ? [] : describeVerdict(verdict)),
    ...moves.map(({ state, by, atMs }) => `  ${at(atMs)}  ${state}  by ${by}`),
    ...submissions.map(describeSubmission),
    ...transactions.map(describeTransaction),
    ...losses.map(({ wei, gift, atMs }) => `  ${at(atMs)}  lost by it: ${wei} wei, and ${gift} base units of credits`),
    ...budgets.map(describeExceeded),
  ].join('\n');
}

/** A journal on the disk, of a relayer that may be at work or not. */
interface StoredJournal {
  readonly path: string;
  readonly relayer: string;
  readonly chainId: number;
  /** Where the journal of its sender is. */
  readonly senderPath: string;
  readonly view: JournalView;
  close(): void;
}

/** As `journalPath` names them. */
const JOURNAL_NAME = /^relayer-(\d+)-(0x[0-9a-f]{40})\.db$/;

/**
 * Opens all journals of relayers in a folder, to read them.
 *
 * @param dataDir - `DATA_DIR` of the relayers
 * @throws Error of node:fs or node:sqlite; one of a journal that this version has not written yet
 */
function openJournals(dataDir: string): readonly StoredJournal[] {
  return readdirSync(dataDir).flatMap((name) => {
    const [, chainId, relayer] = JOURNAL_NAME.exec(name) ?? [];
    if (chainId === undefined || relayer === undefined) return [];
    const path = join(dataDir, name);
    const database = new DatabaseSync(path, { readOnly: true });
    const view = createJournalView(database);
    const senderPath = journalPath({ dataDir, kind: 'sender', address: relayer, chainId: Number(chainId) });
    return [{ path, relayer, chainId: Number(chainId), senderPath, view, close: () => database.close() }];
  });
}
