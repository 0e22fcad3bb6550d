import { isDeepEnough, leastAgreed, mostAgreed } from '@prism-gateway/node/rpc';
import type { BlockHead, Chain } from '../chain/createChain.ts';
import type { Receipt } from '../chain/parseReceipt.ts';
import { UNMINED_STATES } from '../intents/intentState.ts';
import { currentVersions, type LiveIntent, type MinedAt } from '../intents/liveIntent.ts';
import { bumpFees } from './bumpFees.ts';
import { type Engine, flush, transition, unminedIntents } from './engine.ts';
import { fillGaps } from './fillGaps.ts';
import { type Finding, resolveDisplaced, takeReceipt, takeReorg } from './finalize.ts';
import { pauseForBlock } from './pauseForBlock.ts';
import { retryPause } from './retryPause.ts';

/** So many transactions are looked for one by one; for more, the account nonce says which are worth looking for. */
const MAX_DIRECT_LOOKS = 2;
/** Rounds without news after which the account nonce is looked at. */
const COUNT_EVERY_ROUNDS = 8;
/** While the head stays the same nothing is mined: two looks at it, in case one of several nodes lags, and then none for some rounds. */
const LOOKS_AT_A_HEAD = 2;
/** Looks in a row that may find a nonce passed and no receipt: a node may know the account nonce before the receipt. */
const MAX_MISSES = 2;
/** A look that comes so soon after a broadcast shows whether blocks come at once. */
const EARLY_MS = 100;
/** While intents wait for room. */
const BUSY_POLL_MS = 10;

/** The result of looking for receipts. */
interface Looks {
  readonly found: readonly Finding[];
  /** All their answers say that there is no receipt. */
  readonly missing: readonly LiveIntent[];
  /** The first of the answers that were none, which spoil nothing but themselves. */
  readonly fault: unknown;
}

/** Looks for receipts of all versions on the nonces of intents. @param read - one of the ways to ask for a receipt */
async function fetchReceipts(intents: readonly LiveIntent[], read: Chain['receipt']): Promise<Looks> {
  const looks = intents.flatMap((intent) => currentVersions(intent).map((version) => ({ intent, version })));
  const answers = await Promise.allSettled(looks.map(({ version }) => read(version.hash)));
  const found: Finding[] = [];
  const reported = new Set<LiveIntent>();
  let fault: unknown;
  for (const [place, look] of looks.entries()) {
    // One answer for each look.
    const answer = answers[place] as PromiseSettledResult<Receipt | undefined>;
    if (answer.status === 'rejected') fault ??= answer.reason;
    else if (answer.value === undefined) continue;
    else found.push({ ...look, receipt: answer.value });
    reported.add(look.intent);
  }
  return { found, missing: intents.filter((intent) => !reported.has(intent)), fault };
}

function takeMisses(engine: Engine, missing: readonly LiveIntent[]): void {
  for (const intent of missing) {
    if (++intent.misses < MAX_MISSES || intent.state === 'displaced') continue;
    transition(engine, { intent, to: 'displaced' });
    // Unmined intents have a nonce.
    engine.emit({ type: 'displaced', intentId: intent.intentId, nonce: intent.nonce as number });
  }
}

/** The chain is not past the nonce after all: the node lagged, or the chain was reorganised. */
function takeBack(engine: Engine, seen: { intents: readonly LiveIntent[]; count: number }): void {
  for (const intent of seen.intents) {
    if (intent.state !== 'displaced' || (intent.nonce as number) < seen.count) continue;
    transition(engine, { intent, to: intent.failure === undefined ? 'broadcast' : 'cancelling' });
    engine.consumers.delete(intent.nonce as number);
    intent.misses = 0;
    intent.nextBroadcastAtMs = 0;
  }
}

/** Where the account stands after the newest block, as nodes say. */
interface NonceCount {
  /** The most that any of them says: what may be mined is looked for. */
  readonly highest: number;
  /** Confirmed by two of them: an intent below it without a receipt was displaced. */
  readonly agreed: number;
  /** As `agreed`; of two that differ the higher: below it nothing is free. */
  readonly used: number;
}

async function readCount({ chain }: Engine): Promise<NonceCount> {
  const counts = (await chain.accountNonces('latest')).map(({ count }) => count);
  return { highest: Math.max(...counts), agreed: leastAgreed(counts), used: mostAgreed(counts) };
}

/** Looks for what has been mined. @returns the account nonce below which none is free, if it was looked at, and what went wrong */
async function lookForMined(engine: Engine): Promise<{ readonly count?: number; readonly fault?: unknown }> {
  const { chain } = engine;
  const unmined = unminedIntents(engine);
  if (unmined.length === 0) return {};
  const isCountDue = engine.idleRounds % COUNT_EVERY_ROUNDS === COUNT_EVERY_ROUNDS - 1;
  if (engine.sameHeads >= LOOKS_AT_A_HEAD && !engine.isSuspicious && !isCountDue) return {};
  const direct = unmined.slice(0, MAX_DIRECT_LOOKS);
  const isCounted =
    unmined.length > MAX_DIRECT_LOOKS ||
    engine.isSuspicious ||
    direct.flatMap(currentVersions).length > MAX_DIRECT_LOOKS ||
    isCountDue;
  const count = isCounted ? await readCount(engine) : undefined;
  const passed = count === undefined ? direct : unmined.filter(({ nonce }) => (nonce as number) < count.highest);
  const { found, missing, fault } = await fetchReceipts(passed, isCounted ? chain.findReceipt : chain.receipt);
  for (const finding of found) {
    // While the receipts were on their way, nothing else finalizes intents; their nonces may have changed hands only by requeueing.
    if (finding.intent.nonce === finding.version.nonce && finding.intent.state !== 'mined')
      takeReceipt(engine, finding);
  }
  if (count === undefined) return { fault };
  takeBack(engine, { intents: unmined, count: count.agreed });
  const displaced = missing.filter(({ nonce }) => (nonce as number) < count.agreed);
  takeMisses(engine, displaced);
  engine.isSuspicious = displaced.length > 0 || fault !== undefined;
  return { count: count.used, fault };
}

/** Whether a block is still where it was, as far as two heads can say; `before` was the head when all was last known to be well. */
function isStillThere(
  mined: MinedAt,
  heads: { readonly before: BlockHead | undefined; readonly head: BlockHead },
): boolean {
  const { before, head } = heads;
  if (head.number === mined.blockNumber) return head.hash === mined.blockHash;
  if (head.number === mined.blockNumber + 1n) return head.parentHash === mined.blockHash;
  if (before === undefined || before.number < mined.blockNumber) return false;
  return before.hash === head.hash || head.parentHash === before.hash;
}

/**
 * Follows the chain from an intent's block to a head. A head whose parent is the one before stands on the same block, so that the receipt
 * holds; one that does not follow proves nothing.
 */
function followHead(intent: LiveIntent, head: BlockHead): void {
  const { lineage } = intent;
  if (lineage === undefined || lineage.headHash === head.hash) return;
  const isNext = head.number === lineage.headNumber + 1n && head.parentHash === lineage.headHash;
  intent.lineage = isNext ? { ...lineage, headNumber: head.number, headHash: head.hash } : undefined;
}

function isDeep({ mined, confirmations }: LiveIntent, head: BlockHead): boolean {
  return mined !== undefined && isDeepEnough(mined.blockNumber, { head: head.number, confirmations });
}

/** Ends what is deep enough, if the heads prove that its receipt holds. */
function endProven(engine: Engine, intents: readonly LiveIntent[], head: BlockHead): void {
  for (const intent of intents) {
    followHead(intent, head);
    const { lineage } = intent;
    if (lineage === undefined || !isDeep(intent, head)) continue;
    const { version, receipt } = lineage;
    takeReceipt(engine, { intent, version, receipt, headNumber: head.number });
  }
}

/**
 * Looks again at what was mined: when it is deep enough, and whenever the chain may have been reorganised.
 *
 * @returns what went wrong
 */
async function lookAtMined(engine: Engine): Promise<unknown> {
  const intents = [...engine.live.values()].filter((intent) => intent.state === 'mined');
  if (intents.length === 0) {
    engine.sameHeads = 0;
    return undefined;
  }
  const before = engine.head;
  const head = await engine.chain.head();
  engine.fees.observe(head);
  engine.sameHeads = before?.hash === head.hash ? engine.sameHeads + 1 : 0;
  endProven(engine, intents, head);
  const due = intents.filter((intent) => {
    if (intent.state !== 'mined') return false;
    return intent.mined === undefined || !isStillThere(intent.mined, { before, head }) || isDeep(intent, head);
  });
  const { found, missing, fault } = await fetchReceipts(due, engine.chain.confirmReceipt);
  for (const finding of found) takeReceipt(engine, { ...finding, headNumber: head.number });
  for (const intent of missing) takeReorg(engine, intent);
  if (before?.hash !== head.hash) engine.headSeenAtMs = engine.monotonicNow();
  // After a fault, the next head is compared with none: all are looked at again.
  engine.head = fault === undefined ? head : undefined;
  return fault;
}

function isEarly(engine: Engine, { offered }: LiveIntent): boolean {
  return offered !== undefined && engine.monotonicNow() - offered.sinceMs < EARLY_MS;
}

async function look(engine: Engine): Promise<void> {
  const unmined = unminedIntents(engine);
  const minedFault = await lookAtMined(engine);
  const { count, fault = minedFault } = await lookForMined(engine);
  const isNew = unmined.some(({ state }) => !UNMINED_STATES.includes(state));
  if (!isNew) engine.idleRounds++;
  if (unmined.some((intent) => isEarly(engine, intent))) engine.earlyLooks = isNew ? 0 : engine.earlyLooks + 1;
  await resolveDisplaced(engine);
  await fillGaps(engine, count);
  await bumpFees(engine);
  if (fault !== undefined) throw fault;
}

function takeFault(engine: Engine, error: unknown): number {
  engine.faults.watch++;
  engine.emit({ type: 'rpcFault', method: 'watch', reason: error instanceof Error ? error.message : 'unknown' });
  return retryPause(error, { faults: engine.faults.watch, pollIntervalMs: engine.settings.pollIntervalMs });
}

/**
 * Looks at the chain once for all intents: receipts, depth, reorganisations, lost nonces, gaps; then offers again what must be.
 *
 * @returns in how many milliseconds the next round is due; undefined: when something is broadcast
 */
export async function watchRound(engine: Engine): Promise<number | undefined> {
  if (engine.live.size === engine.queue.length) return undefined;
  let pauseMs: number | undefined;
  try {
    await look(engine);
    engine.faults.watch = 0;
  } catch (error) {
    if (!engine.isClosed) pauseMs = takeFault(engine, error);
  }
  if (engine.isClosed) return undefined;
  flush(engine);
  if (engine.queue.length > 0) engine.reserving.schedule(0);
  if ([...engine.live.values()].every((intent) => intent.state === 'queued')) return undefined;
  if (pauseMs !== undefined) return pauseMs;
  const isFull = engine.queue.length > 0 && unminedIntents(engine).length >= engine.settings.maxInFlight;
  return isFull ? Math.min(BUSY_POLL_MS, engine.settings.pollIntervalMs) : pauseForBlock(engine);
}
