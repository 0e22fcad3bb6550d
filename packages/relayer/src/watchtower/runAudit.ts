import { createRecoverSigner, openAccount } from '@prism-gateway/node/accounts';
import { CommandLineError, parseCommandLine } from '@prism-gateway/node/command-line';
import { createLogger } from '@prism-gateway/node/logs';
import { deepEnoughAt, parseCount } from '@prism-gateway/node/rpc';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient, type RelayerClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { readBlockTime } from '../chain/createChainRpc.ts';
import { createWalkBack } from '../chain/createWalkBack.ts';
import { findBlockAt } from '../chain/findExecution.ts';
import { listSignedParts } from '../checks/findNonce.ts';
import { createFindingCheck } from './createFindingCheck.ts';
import { readNewestBlock } from './evaluateFailure.ts';
import {
  createDigestTest,
  evaluateReport,
  leastClaimPrice,
  type ReportedRequest,
  type SeenExecution,
} from './evaluateReport.ts';
import { type Finding, isLie } from './finding.ts';
import type { StoredExecution } from './journal/openSeenChain.ts';
import { type OpenedChain, openWatchedChain } from './openWatchedChain.ts';
import { readAllExecutions, readExecutionsIn } from './readChainUpdate.ts';
import { parseWatchSettings, type WatchedChainSettings } from './watchSettings.ts';

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PAGE = 100;

function readOrder(args: readonly string[], nowMs: number) {
  const options = { since: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { since = '', json = false } = parseCommandLine({ args: [...args], options }).values;
  return { sinceMs: readSince(since, nowMs), isJson: json };
}

function readSince(since: string, nowMs: number): number {
  const span = /^(\d{1,6})([mhd])$/.exec(since);
  // The pattern has no other units.
  if (span !== null) return nowMs - Number(span[1]) * UNIT_MS[span[2] as keyof typeof UNIT_MS];
  const time = Date.parse(since);
  if (Number.isNaN(time))
    throw new CommandLineError(
      '--since: expected a time like 2026-01-31T00:00:00Z, or a span like 90m, 24h or 7d. Try --help.',
    );
  return time;
}

/** The state of a chain that serves all of its requests. */
interface Audit extends OpenedChain {
  readonly chain: WatchedChainSettings;
  readonly leaseSeconds: bigint;
  readonly head: { readonly number: bigint; readonly seconds: bigint };
  /** Time of the block before which reports are settled, in Unix seconds. */
  readonly finalSeconds: bigint;
  readonly executions: ReadonlyMap<Hex, readonly StoredExecution[]>;
}

async function openAudit(
  opened: OpenedChain,
  given: { readonly chain: WatchedChainSettings; readonly sinceMs: number; readonly leaseSeconds: bigint },
): Promise<Audit> {
  const { chain, sinceMs, leaseSeconds } = given;
  const { rpc, confirmations } = opened;
  const { forwarder, fromBlock } = chain;
  const newest = await readNewestBlock(rpc);
  const head = { number: newest.number, seconds: newest.timestamp };
  const seconds = BigInt(Math.floor(sinceMs / 1000));
  const first = (await findBlockAt({ rpc, seconds, fromBlock, head: newest })) + 1n;
  const range = { fromBlock: first, toBlock: head.number };
  const found =
    first > head.number ? [] : await readAllExecutions({ rpc, forwarder, walkBack: createWalkBack() }, range);
  const finalBlock = head.number - confirmations;
  const finalSeconds = finalBlock < 0n ? 0n : ((await readBlockTime(rpc, finalBlock)) ?? 0n);
  return {
    ...opened,
    chain,
    leaseSeconds,
    head,
    finalSeconds,
    executions: Map.groupBy(found, ({ signer }) => signer),
  };
}

/** When each execution was deep enough, as the chain shows. */
async function addDepths({ rpc, confirmations, head }: Audit, executions: readonly StoredExecution[]) {
  return await Promise.all(
    executions.map(async (execution): Promise<SeenExecution> => {
      const deep = deepEnoughAt(execution.block, confirmations);
      return { ...execution, deepSeconds: deep > head.number ? undefined : await readBlockTime(rpc, deep) };
    }),
  );
}

/** Blocks whose price is compared with that of a claim. */
const PRICE_SAMPLES = 16n;
const recoverSigner = createRecoverSigner();

/** Whether gas was dearer at some time since a claim than when it was made: an honest holder may have waited for that to end. */
async function wasEverDearer({ rpc, chain, head }: Audit, { claimedSeconds }: ReportedRequest): Promise<boolean> {
  const newest = { number: head.number, timestamp: head.seconds };
  const { fromBlock } = chain;
  const claimed = await findBlockAt({ rpc, seconds: claimedSeconds, fromBlock, head: newest });
  const first = claimed < 0n ? 0n : claimed;
  const samples = Array.from(
    { length: Number(PRICE_SAMPLES) + 1 },
    (_, index) => first + ((head.number - first) * BigInt(index)) / PRICE_SAMPLES,
  );
  const prices = await Promise.all(
    samples.map((block) =>
      rpc.read(['eth_getBlockByNumber', numberToHex(block), false], (answer) =>
        BigInt(Object(answer).baseFeePerGas ?? 0),
      ),
    ),
  );
  return prices.some((price) => leastClaimPrice(price) > (prices[0] ?? 0n));
}

/** Whether a holder has sent anything since its claim. A node that has forgotten the past leaves it the benefit of the doubt. */
async function hasActedSince(
  { rpc, chain, head }: Audit,
  { relayer, claimedSeconds }: ReportedRequest,
): Promise<boolean> {
  const { fromBlock } = chain;
  const newest = { number: head.number, timestamp: head.seconds };
  const block = await findBlockAt({ rpc, seconds: claimedSeconds, fromBlock, head: newest });
  const count = (tag: string) =>
    rpc.read(['eth_getTransactionCount', relayer, tag], (answer) => parseCount(answer, 'count'));
  const before = await count(numberToHex(block < 0n ? 0n : block)).catch(() => undefined);
  return before === undefined || (await count('pending')) > before;
}

async function evaluateRecord(audit: Audit, record: RequestRecord): Promise<Finding | undefined> {
  const { chain, chainId, confirmations, leaseSeconds, head, finalSeconds, maxAge } = audit;
  const { forwarder } = chain;
  const test = createDigestTest(record, { chainId, forwarder });
  const endedSeconds = BigInt(Math.floor(Date.parse(record.updatedAt) / 1000));
  const report: ReportedRequest = {
    requestId: record.requestId,
    // Pending ones have been left out.
    status: record.status as ReportedRequest['status'],
    relayer: record.claimedBy?.toLowerCase() as Hex,
    claimedSeconds: BigInt(Math.floor(Date.parse(record.claimedAt ?? record.updatedAt) / 1000)),
    txHash: record.txHash?.toLowerCase() as Hex | undefined,
    endedBlock: finalSeconds >= endedSeconds ? head.number - confirmations : undefined,
    expiresSeconds: listSignedParts(record).reduce((end, { params }) => {
      const own = BigInt(params.timestamp) + maxAge;
      return own > end ? own : end;
    }, 0n),
    excuse: 'none',
    endedSeconds,
    idleSeconds: 0n,
    errorMessage: record.errorMessage,
  };
  const listed = report.txHash === undefined ? [] : await readExecutionsIn({ ...audit, forwarder }, report.txHash);
  const seen = [...test.signers].flatMap((signer) => audit.executions.get(signer) ?? []);
  const others = seen.filter(({ txHash }) => txHash !== report.txHash);
  const executions = await addDepths(
    audit,
    [...listed, ...others].filter((each) => test.isOf(each)),
  );
  const isHeld = report.status === 'processing' && head.seconds > report.claimedSeconds + leaseSeconds;
  const hasActed = isHeld && (await hasActedSince(audit, report));
  const idleSeconds = isHeld && (await wasEverDearer(audit, report)) ? 0n : head.seconds - report.claimedSeconds;
  const evidence = { head, confirmations, leaseSeconds, executions, hasActed };
  const evaluation = evaluateReport({ ...report, idleSeconds }, evidence);
  if (typeof evaluation === 'string') return undefined;
  const { claimedSeconds, expiresSeconds, txHash: named } = report;
  const times = { claimedSeconds, endedSeconds, expiresSeconds, reportedSeconds: endedSeconds };
  // Nobody has seen here what was open when.
  const accused = { request: record, named, claimNonce: undefined, isOf: test.isOf, isWatched: false, ...times };
  const check = createFindingCheck({ ...audit, forwarder, recoverSigner, listOpenBefore: async () => [] });
  return (await check({ finding: evaluation, report: accused })) === 'confirmed' ? evaluation : undefined;
}

async function auditChain(audit: Audit, client: RelayerClient, sinceMs: number) {
  const findings: Finding[] = [];
  let count = 0;
  const { chainName } = audit.chain;
  for await (const { items } of client.list({ chainName, order: 'desc', limit: PAGE }).pages()) {
    const fresh = items.filter(({ createdAt }) => Date.parse(createdAt) >= sinceMs);
    const listed = fresh.filter(({ status }) => status !== 'pending');
    count += listed.length;
    const evaluated = await Promise.all(listed.map((record) => evaluateRecord(audit, record)));
    findings.push(...evaluated.filter((finding) => finding !== undefined));
    if (fresh.length < items.length) break;
  }
  return { findings, count };
}

function formatTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ requestId, kind, relayer, text }) => [requestId, kind, relayer, text]);
  const table = [['REQUEST', 'FINDING', 'RELAYER', 'WHAT SHOWS IT'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

/** The part of one chain that was gone through. */
interface AuditedChain {
  readonly chainName: string;
  readonly count: number;
}

interface AuditReport {
  readonly chains: readonly AuditedChain[];
  readonly findings: readonly Finding[];
  /** ISO time. */
  readonly since: string;
}

function writeAudit({ chains, findings, since }: AuditReport): string {
  const lies = findings.filter(isLie);
  return [
    ...chains.map(({ chainName, count }) => `${chainName}: ${count} reports and claims since ${since}`),
    ...(findings.length > 0 ? [formatTable(findings)] : []),
    lies.length === 0
      ? 'No relayer has lied.'
      : `${lies.length} lies of ${new Set(lies.map(({ relayer }) => relayer)).size} relayers.`,
  ].join('\n');
}

/**
 * `watchtower audit --since WHEN [--json]`: goes through what was posted since a time, against the chain as it is now, and prints what is not
 * true. It keeps nothing, and does nothing about what it finds.
 *
 * @returns 1 if a relayer has lied, else 0
 * @throws SettingsError, CommandLineError, ChainError, GatewayError
 * @see docs/specification.md WATCH-5
 */
export async function runAudit({
  args,
  environment,
  print,
  now,
}: {
  /** The words that follow `audit` on the command line. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line. */
  readonly print: (text: string) => void;
  readonly now: () => number;
}): Promise<number> {
  const { sinceMs, isJson } = readOrder(args, now());
  const settings = parseWatchSettings(environment);
  const client = createRelayerClient({ url: settings.gatewayUrl, account: await openAccount(settings) });
  const log = createLogger({ level: settings.logLevel, write: () => undefined, now });
  const ending = new AbortController();
  const findings: Finding[] = [];
  const chains: AuditedChain[] = [];
  try {
    for (const chain of settings.chains) {
      // It goes by those that answer, and has no health to warn.
      const onLeftOut = () => undefined;
      const opened = await openWatchedChain(chain, { log, now, onLeftOut, signal: ending.signal });
      const audit = await openAudit(opened, { chain, sinceMs, leaseSeconds: settings.leaseSeconds });
      const found = await auditChain(audit, client, sinceMs);
      findings.push(...found.findings);
      chains.push({ chainName: chain.chainName, count: found.count });
    }
  } finally {
    ending.abort();
  }
  const since = new Date(sinceMs).toISOString();
  const lies = findings.filter(isLie).length;
  const listed = findings.map(({ requestId, kind, relayer, text }) => ({ requestId, kind, relayer, text }));
  print(isJson ? JSON.stringify({ since, chains, findings: listed, lies }) : writeAudit({ chains, findings, since }));
  return lies === 0 ? 0 : 1;
}
