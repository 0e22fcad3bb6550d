import { CommandLineError, parseCommandLine } from '@prism-gateway/runtime/command-line';
import { readTransactions } from '@prism-gateway/sender';
import { formatStatus, formatStory } from '../status/formatStatus.ts';
import { openJournals, type StoredJournal } from '../status/openJournals.ts';
import { readStatus } from '../status/readStatus.ts';

/** How long the relayer at work may take to tell of its health, in milliseconds. */
const HEALTH_TIMEOUT_MS = 2000;
const DEFAULT_DATA_DIR = './data';
const DEFAULT_METRICS_PORT = '9464';
const JSON_OPTION = { json: { type: 'boolean' } } as const;

/** What a command works with. */
export interface CommandInput {
  /** What stands behind `relayer` on the command line. */
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
 * `relayer status [--json]`: what each relayer of a folder holds, has judged and why, waits for, and has spent and earned.
 *
 * @throws Error where there is no journal
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
 * @throws Error where they know nothing of it
 */
export function explainRequest({ args, environment, print }: CommandInput): void {
  const given = parseCommandLine({ args: [...args], allowPositionals: true, options: JSON_OPTION });
  const [requestId, more] = given.positionals.map((word) => word.toLowerCase());
  if (more !== undefined) throw new CommandLineError(`It takes no argument "${more}". Try --help.`);
  if (requestId === undefined) throw new CommandLineError('Say which request: relayer explain REQUEST_ID. Try --help.');
  const stories = useJournals(environment, (journals) =>
    journals.flatMap(({ relayer, chainId, view, senderPath }) => {
      const story = view.explain(requestId);
      if (story === undefined) return [];
      const intentIds = story.submissions.map(({ intentId }) => intentId);
      return [{ relayer, chainId, ...story, transactions: readTransactions(senderPath, intentIds) }];
    }),
  );
  if (stories.length === 0) throw new Error(`No relayer of this folder has seen request ${requestId}.`);
  const write = (story: (typeof stories)[number]) =>
    `${formatStory(story, story.transactions)}\n  relayer ${story.relayer} on chain ${story.chainId}`;
  print(given.values.json === true ? JSON.stringify(stories, undefined, 2) : stories.map(write).join('\n'));
}
