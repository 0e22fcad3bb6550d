import type { Hex } from 'viem';
import type { Accusation } from './createFindingCheck.ts';
import type { QueueUpdate } from './createQueueLook.ts';
import { createDigestTest, leastClaimPrice } from './evaluateReport.ts';
import { evaluateAll, finalizeReleases, type Suspicions } from './evaluateWatched.ts';
import { type Doubt, findDoubt, LOOK_SECONDS } from './findDoubt.ts';
import type { SeenHead, StoredExecution } from './journal/openSeenChain.ts';
import { KEEP_MS } from './journal/openWatchedTable.ts';
import type { StoredFinding } from './journal/openWatchJournal.ts';
import { readExecutionsIn } from './readChainUpdate.ts';
import { type Holders, readHolders } from './readHolders.ts';
import { takeRecords } from './takeRecords.ts';
import type { Reading, WatchOptions } from './watchContext.ts';

/** Most findings that nodes are asked about in one look: the next one goes on. */
const MAX_CHECKS = 32;
/** How far back the first look at the chain goes, in seconds: as long as the Forwarder takes a signature by default. */
const FIRST_LOOK_SECONDS = 86_400n;

/** The result of a look. */
export interface Looked {
  readonly head: SeenHead;
  readonly findings: readonly StoredFinding[];
}

function listNamed({ journal }: WatchOptions, { records }: QueueUpdate): Set<Hex> {
  const fresh = records.map(({ txHash, status }) => (status === 'success' ? txHash : undefined));
  const known = journal.listEnded().map(({ txHash }) => txHash);
  return new Set(
    [...fresh, ...known].filter((txHash) => txHash !== undefined).map((txHash) => txHash.toLowerCase() as Hex),
  );
}

/** How old what is known of the chain may be while nobody holds a request, or has reported one a moment ago, in milliseconds. */
const QUIET_MS = 60_000;

/** Whether nothing has to be compared with the chain now. */
function isQuiet({ journal }: WatchOptions, { records, gone }: QueueUpdate): boolean {
  return !journal.hasAny(['held', 'ended']) && gone.length === 0 && records.every(({ status }) => status === 'pending');
}

/** What holders had sent at a block. */
interface HoldersAt {
  readonly hash: Hex;
  readonly holders: Holders;
}

/**
 * The queue comes first: the chain that is looked at afterwards is no older than any report.
 *
 * @param known - the newest block, if it was looked at a moment ago
 * @param last - what holders had sent when the last reading was made: it is asked once a block, for idle time is counted in blocks
 */
async function read(options: WatchOptions, known: SeenHead | undefined, last: HoldersAt | undefined): Promise<Reading> {
  const { rpc, journal, lookAtQueue, lookAtChain, now } = options;
  const queue = await lookAtQueue();
  if (known !== undefined && isQuiet(options, queue)) {
    const chain = { head: known, heads: [], fork: undefined, lostBlocks: 0n, executions: [] };
    return { queue, chain, namedExecutions: [], mined: new Map(), sent: new Map(), busy: new Set() };
  }
  const sinceSeconds = BigInt(Math.floor(now() / 1000)) - FIRST_LOOK_SECONDS;
  const claimants = queue.records.flatMap(({ status, claimedBy }) =>
    status === 'processing' && claimedBy !== undefined ? [claimedBy.toLowerCase() as Hex] : [],
  );
  const holders = new Set([...claimants, ...journal.holders()]);
  const [chain, namedExecutions] = await Promise.all([
    lookAtChain(journal.heads(), { sinceSeconds }),
    Promise.all([...listNamed(options, queue)].map((txHash) => readExecutionsIn(options, txHash))),
  ]);
  const isRead = last?.hash === chain.head.hash && [...holders].every((holder) => last.holders.sent.has(holder));
  const read = isRead ? last.holders : await readHolders(rpc, holders);
  return { queue, chain, namedExecutions: namedExecutions.flat(), ...read };
}

/** Evaluates an execution again that was true and is undone: its transaction may be mined anew, or revert. */
function reopen({ journal, chainId, forwarder }: WatchOptions, execution: StoredExecution, seconds: bigint): void {
  for (const { requestId, body } of journal.listNamed(execution.txHash)) {
    const test = createDigestTest(JSON.parse(body as string), { chainId, forwarder });
    if (test.signers.has(execution.signer) && test.isOf(execution)) journal.reopen(requestId, seconds);
  }
}

/** Counts the time since the last look; of a long one only a part, for nobody has seen what gas cost meanwhile. */
function countIdle(
  { journal, leaseSeconds }: Pick<WatchOptions, 'journal' | 'leaseSeconds'>,
  { chain: { head }, busy }: Pick<Reading, 'chain' | 'busy'>,
): void {
  const since = journal.heads()[0]?.seconds ?? head.seconds;
  const [elapsed, most] = [head.seconds - since, leaseSeconds / 4n];
  const seconds = elapsed < most ? elapsed : most;
  if (seconds > 0n) journal.countIdle({ seconds, claimPrice: leastClaimPrice(head.baseFee), busy });
}

/** How long a report may take to be seen, in seconds. */
const DOUBT_SECONDS = 3600n;

/** Evaluates failures again that have been carried out since. */
function wakeExecuted({ journal, chainId, forwarder }: WatchOptions, executions: readonly StoredExecution[]): void {
  for (const [signer, own] of Map.groupBy(executions, (execution) => execution.signer)) {
    for (const { requestId, body } of journal.listWatching(signer)) {
      const test = createDigestTest(JSON.parse(body as string), { chainId, forwarder });
      if (own.some(test.isOf)) journal.wake(requestId);
    }
  }
}

/** Takes in what has happened on the chain. */
function takeChain(options: WatchOptions, { chain, busy }: Reading, doubt: Doubt | undefined): void {
  const { journal, confirmations, leaseSeconds } = options;
  countIdle({ journal, leaseSeconds }, { chain, busy });
  if (chain.fork !== undefined) {
    const undone = journal.undoAbove(chain.fork);
    journal.excuseOpen(doubt?.excuse ?? 'fork');
    for (const execution of undone) reopen(options, execution, chain.head.seconds);
  }
  journal.addExecutions(chain.executions, chain.head.seconds);
  wakeExecuted(options, chain.executions);
  for (const head of chain.heads) journal.addHead(head, confirmations);
}

/** A report counts from the first block that is as late as it. */
function recordEnds({ journal, now }: WatchOptions, { chain: { head } }: Reading): void {
  for (const row of journal.listEnded()) {
    const { endedBlock, endedSeconds = 0n } = row;
    if (endedBlock !== undefined || head.seconds < endedSeconds) continue;
    journal.put({ ...row, endedBlock: head.number }, now());
  }
}

/** Chooses what nodes are asked: one accusation of each relayer in turn, so that no flood of honest failures hides another relayer's lie. */
function chooseChecks(raised: ReadonlyMap<string, Accusation>): (readonly [string, Accusation])[] {
  const turns = [...Map.groupBy(raised, ([, { finding }]) => finding.relayer).values()].flatMap((own) =>
    own.map((entry, turn) => ({ entry, turn })),
  );
  return turns
    .toSorted((one, other) => one.turn - other.turn)
    .slice(0, MAX_CHECKS)
    .map(({ entry }) => entry);
}

/**
 * Makes the watch over the relayers of one chain. A look reads first, and then writes all that it has seen and found in one commit: what
 * was found is never lost with the cursor gone on, nor found twice.
 *
 * @returns one look; it throws ChainError and GatewayError, and has then changed nothing
 * @see docs/specification.md WATCH-3
 */
export function createWatch(options: WatchOptions): () => Promise<Looked> {
  const { journal, maxAge, now, checkFinding } = options;

  let seen: { readonly head: SeenHead; readonly atMs: number } | undefined;
  let last: HoldersAt | undefined;
  let doubts: readonly Doubt[] = [];
  let attendedAtMs: number | undefined;
  let watchedSince = 0n;

  async function lookOnce(suspicions: Suspicions): Promise<Looked> {
    const known = seen !== undefined && Math.abs(now() - seen.atMs) < QUIET_MS ? seen.head : undefined;
    const reading = await read(options, known, last);
    const { queue, chain, mined, sent, busy } = reading;
    const { head } = chain;
    last = { hash: head.hash, holders: { mined, sent, busy } };
    if (head !== known) seen = { head, atMs: now() };
    const doubt = findDoubt(options, chain, attendedAtMs);
    if (now() - (attendedAtMs ?? 0) > Number(LOOK_SECONDS) * 1000) watchedSince = BigInt(Math.floor(now() / 1000));
    doubts = [...(doubt ? [doubt] : []), ...doubts.filter(({ to }) => to > head.seconds - DOUBT_SECONDS)];
    const looked = journal.commit(() => {
      takeChain(options, reading, doubt);
      takeRecords({ journal, head, heads: journal.heads(), maxAge, sent: mined, doubts }, queue);
      recordEnds(options, reading);
      const findings = finalizeReleases(options, suspicions, head);
      findings.push(...evaluateAll(options, suspicions, { reading, watchedSince }));
      journal.retire({ seconds: head.seconds, ms: now() });
      // By both clocks: a node that shows a time to come has nothing forgotten.
      journal.forgetExecutions(BigInt(Math.floor((Math.min(Number(head.seconds) * 1000, now()) - KEEP_MS) / 1000)));
      return { head, findings };
    });
    // Only once it is written: of a block that the journal does not know, nobody sees that it is gone.
    attendedAtMs = queue.atMs;
    return looked;
  }

  /** A node alone may lie, or be behind: nobody is accused before others have said the same. */
  return async function look() {
    const raised = new Map<string, Accusation>();
    const looked = await lookOnce({ raised, checked: new Map() });
    const some = chooseChecks(raised);
    const checked = new Map(
      await Promise.all(some.map(async ([key, each]) => [key, await checkFinding(each)] as const)),
    );
    const isUndecided = [...checked.values()].every((word) => word === 'unknown');
    return isUndecided ? looked : await lookOnce({ raised: new Map(), checked });
  };
}
