import type { Alert, Alerter } from '@prism-gateway/alerts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { parseCount } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import type { Accusation, CheckFinding } from './createFindingCheck.ts';
import type { QueueNews } from './createQueueLook.ts';
import { type Finding, type FindingKind, isLie } from './finding.ts';
import type { SeenHead, StoredExecution } from './journal/openSeenChain.ts';
import type { WatchedRow } from './journal/openWatchedTable.ts';
import type { StoredFinding, WatchJournal } from './journal/openWatchJournal.ts';
import { judgeReleases } from './judgeReleases.ts';
import { createDigestTest, type Judgement, judgeReport } from './judgeReport.ts';
import { type ChainNews, readTold } from './readChainNews.ts';
import { takeRecords } from './takeRecords.ts';

/** How far back the first look at the chain goes, in seconds: as long as the Forwarder takes a signature by default. */
const FIRST_LOOK_SECONDS = 86_400n;

/** What a watch over one chain works with. */
export interface WatchOptions {
  readonly rpc: Pick<ChainRpc, 'read'>;
  readonly chainId: number;
  readonly forwarder: Hex;
  readonly confirmations: bigint;
  readonly leaseSeconds: bigint;
  /** How long the Forwarder takes a signature, in seconds. */
  readonly maxAge: bigint;
  readonly journal: WatchJournal;
  readonly alerter: Pick<Alerter, 'raise'>;
  /** Whether other nodes bear a finding out; absent: there are none. */
  readonly checkFinding?: CheckFinding | undefined;
  readonly lookAtQueue: () => Promise<QueueNews>;
  readonly lookAtChain: (seen: readonly SeenHead[], since: { readonly sinceSeconds: bigint }) => Promise<ChainNews>;
  readonly now: () => number;
}

/** What a look has brought. */
export interface Looked {
  readonly head: SeenHead;
  readonly findings: readonly StoredFinding[];
}

/** What was read for a look; the writing needs nothing else. */
interface Reading {
  readonly queue: QueueNews;
  readonly chain: ChainNews;
  /** How many transactions each holder has sent that are mined, and with those that wait. */
  readonly mined: ReadonlyMap<Hex, number>;
  readonly sent: ReadonlyMap<Hex, number>;
  /** Executions in the transactions that reports name. */
  readonly told: readonly StoredExecution[];
}

async function countSent(rpc: WatchOptions['rpc'], relayers: Iterable<Hex>, tag: 'latest' | 'pending') {
  const counts = [...new Set(relayers)].map(async (relayer) => {
    const count = await rpc.read(['eth_getTransactionCount', relayer, tag], (answer) => parseCount(answer, 'count'));
    return [relayer, count] as const;
  });
  return new Map(await Promise.all(counts));
}

function listNamed({ journal }: WatchOptions, { records }: QueueNews): Set<Hex> {
  const fresh = records.map(({ txHash, status }) => (status === 'success' ? txHash : undefined));
  const known = journal.listToJudge(0n).map(({ txHash }) => txHash);
  return new Set(
    [...fresh, ...known].filter((txHash) => txHash !== undefined).map((txHash) => txHash.toLowerCase() as Hex),
  );
}

/** The queue comes first: the chain that is looked at afterwards is no older than any report. */
async function read(options: WatchOptions): Promise<Reading> {
  const { rpc, journal, lookAtQueue, lookAtChain, now } = options;
  const queue = await lookAtQueue();
  const sinceSeconds = BigInt(Math.floor(now() / 1000)) - FIRST_LOOK_SECONDS;
  const claimants = queue.records.flatMap(({ status, claimedBy }) =>
    status === 'processing' && claimedBy !== undefined ? [claimedBy.toLowerCase() as Hex] : [],
  );
  const holders = new Set([...claimants, ...journal.holders()]);
  const [chain, told, mined, sent] = await Promise.all([
    lookAtChain(journal.heads(), { sinceSeconds }),
    Promise.all([...listNamed(options, queue)].map((txHash) => readTold(options, txHash))),
    countSent(rpc, holders, 'latest'),
    countSent(rpc, holders, 'pending'),
  ]);
  return { queue, chain, told: told.flat(), mined, sent };
}

/** Takes in what has happened on the chain. */
function takeChain({ journal, confirmations, now }: WatchOptions, { chain }: Reading): void {
  if (chain.fork !== undefined) {
    journal.wake(journal.undoAbove(chain.fork));
    if (chain.lostBlocks >= confirmations) journal.excuseOpen();
  }
  journal.addExecutions(chain.executions, now());
  journal.wake(new Set(chain.executions.map(({ signer }) => signer)));
  for (const head of chain.heads) journal.addHead(head, confirmations);
}

/** What follows for one request, and what a finding rests on. */
type Judged = { readonly judgement: Judgement } & Omit<Accusation, 'finding'>;

/** Judges one request. */
function judge(options: WatchOptions, { chain: { head }, told, sent }: Reading, row: WatchedRow): Judged {
  const { journal, confirmations, leaseSeconds, chainId, forwarder } = options;
  const { requestId, relayer, claimNonce, txHash, isExcused } = row;
  // Of what is claimed or ended, all of that is known.
  const body = JSON.parse(row.body as string) as Pick<RequestRecord, 'action' | 'params'>;
  const test = createDigestTest(body, { chainId, forwarder });
  const named = told.filter((execution) => execution.txHash === txHash && test.signers.has(execution.signer));
  const seen = journal
    .executionsOf(test.signers)
    .filter((execution) => execution.txHash !== txHash || named.length === 0);
  const report = {
    ...{ requestId, relayer: relayer as Hex, txHash, isExcused, endedBlock: row.endedBlock },
    status: row.status as 'processing' | 'success' | 'failed',
    claimedSeconds: row.claimedSeconds ?? 0n,
    expiresSeconds: row.expiresSeconds ?? 0n,
  };
  const hasActed = claimNonce === undefined || (sent.get(report.relayer) ?? 0) > claimNonce;
  const executions = [...named, ...seen].filter((execution) => test.isOf(execution));
  const judgement = judgeReport(report, { head, confirmations, leaseSeconds, executions, hasActed });
  return { judgement, named: txHash, claimNonce: hasActed ? undefined : claimNonce, isOf: test.isOf };
}

/** Findings that other nodes have yet to bear out, and those that they have borne out, by kind and request. */
interface Suspicions {
  readonly raised: Map<string, Accusation>;
  readonly borneOut: ReadonlySet<string>;
}

/** Puts a finding down, with its alert. @returns undefined where it is known */
function put({ journal, alerter, now }: WatchOptions, found: Finding): StoredFinding | undefined {
  const finding = journal.addFinding(found, now());
  if (finding !== undefined) alerter.raise(describeFinding(finding));
  return finding;
}

/** Puts down what follows from a judgement. @returns the finding, where it is new */
function settle(
  options: WatchOptions,
  { raised, borneOut }: Suspicions,
  { row, judged: { judgement, ...rest } }: { readonly row: WatchedRow; readonly judged: Judged },
): StoredFinding | undefined {
  const { journal, checkFinding } = options;
  const { requestId } = row;
  if (judgement === 'again') return undefined;
  if (judgement === 'watch') return void journal.setState(requestId, 'watching');
  if (judgement === 'done') return void journal.setState(requestId, 'done');
  const key = `${judgement.kind} ${requestId}`;
  if (checkFinding !== undefined && !borneOut.has(key)) return void raised.set(key, { finding: judgement, ...rest });
  // What is held is watched on: it can still be reported.
  if (row.state !== 'held') journal.setState(requestId, 'done');
  return put(options, judgement);
}

/** A report counts from the first block that is as late as it. */
function noteEnds({ journal, now }: WatchOptions, { chain: { head } }: Reading): void {
  for (const row of journal.listToJudge(0n)) {
    const { endedBlock, endedSeconds = 0n } = row;
    if (endedBlock !== undefined || head.seconds < endedSeconds) continue;
    journal.put({ ...row, endedBlock: head.number }, { signers: [], atMs: now() });
  }
}

/**
 * Makes the watch over the relayers of one chain. A look reads first, and then writes all that it has seen and found in one commit: what
 * was found is never lost with the cursor gone on, nor found twice.
 *
 * @returns one look; it throws ChainError and GatewayError, and has then changed nothing
 * @see docs/specification.md WATCH-3
 */
export function createWatch(options: WatchOptions): () => Promise<Looked> {
  const { journal, leaseSeconds, maxAge, now, checkFinding } = options;

  async function lookOnce(suspicions: Suspicions): Promise<Looked> {
    const reading = await read(options);
    const { queue, chain, mined } = reading;
    const { head } = chain;
    return journal.commit(() => {
      takeChain(options, reading);
      takeRecords({ journal, head, maxAge, leaseSeconds, sent: mined }, queue);
      noteEnds(options, reading);
      const findings = journal
        .listToJudge(head.seconds - leaseSeconds)
        .map((row) => settle(options, suspicions, { row, judged: judge(options, reading, row) }))
        .filter((finding) => finding !== undefined);
      for (const released of judgeReleases(journal, head)) {
        const finding = put(options, released);
        if (finding !== undefined) findings.push(finding);
      }
      journal.retire({ seconds: head.seconds, ms: now() });
      return { head, findings };
    });
  }

  /** A node alone may lie, or be behind: nobody is accused before others have said the same. */
  return async function look() {
    const raised = new Map<string, Accusation>();
    const looked = await lookOnce({ raised, borneOut: new Set() });
    if (checkFinding === undefined || raised.size === 0) return looked;
    const checked = await Promise.all(
      [...raised].map(async ([key, each]) => ((await checkFinding(each)) ? [key] : [])),
    );
    const borneOut = new Set(checked.flat());
    return borneOut.size === 0 ? looked : await lookOnce({ raised: new Map(), borneOut });
  };
}

const SUBJECTS: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'reported success, and the chain shows none',
  wrongTransaction: 'named a transaction that did not carry the request out',
  falseFailure: 'reported failed what was carried out',
  idleClaim: 'holds a request beyond the lease and does nothing',
  idleRelease: 'claims requests, gives them back and never works',
  executedLater: 'reported failed what somebody else carried out later',
  reorganised: 'reported what a reorganisation has undone',
};

const ADVICE: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'Suspend the relayer, and post the request again: its signature is unused.',
  wrongTransaction: 'Suspend the relayer. The request itself was carried out.',
  falseFailure: 'Suspend the relayer. The request was carried out, so its user must not sign it again.',
  idleClaim: 'Suspend the relayer and release what it holds.',
  idleRelease: 'Suspend the relayer: it keeps requests from the others.',
  executedLater: 'Tell the user: the record says failed, and the request was carried out.',
  reorganised: 'Look at the request by hand; no relayer is to blame.',
};

/**
 * Writes the alert of a finding.
 *
 * @see docs/watchtower.md, "What it finds"
 */
function describeFinding(finding: Finding): Alert {
  const { kind, relayer, requestId, text, block } = finding;
  const code = `WATCHTOWER_${kind.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  return {
    code,
    severity: isLie(finding) ? 'critical' : 'warning',
    subject: `Relayer ${relayer} ${SUBJECTS[kind]}`,
    text: `Request ${requestId}, found at block ${block}. ${text} ${ADVICE[kind]}`,
  };
}
