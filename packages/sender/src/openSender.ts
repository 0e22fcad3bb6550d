import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type FileLock, LockHeldError, lockFile, lockKey, makeDirectory } from '@prism-gateway/node';
import { createRpcClient, createRpcPool, createTransportClient } from '@prism-gateway/node/rpc';
import { type Chain, createChain } from './chain/createChain.ts';
import { createLoop, type Loop } from './engine/createLoop.ts';
import { createSender } from './engine/createSender.ts';
import type { Engine, EngineSettings } from './engine/engine.ts';
import { takeOpeningCount } from './engine/foreign.ts';
import { reserveRound } from './engine/reserve.ts';
import { verifyChain } from './engine/verifyChain.ts';
import { watchRound } from './engine/watch.ts';
import { createFeeSource } from './fees/fees.ts';
import { FINAL_STATES, INTENT_STATES } from './intents/intentState.ts';
import { checkConfirmations } from './intents/liveIntent.ts';
import { type Journal, openJournal } from './journal/openJournal.ts';
import type { Sender, SenderOptions } from './sender.ts';
import { SenderError, type SenderErrorCode } from './senderError.ts';

const DEFAULTS = {
  confirmations: 1,
  maxInFlight: 64,
  bumpAfterMs: 30_000,
  bumpPercent: 15,
  pollIntervalMs: 1000,
  rpcTimeoutMs: 10_000,
  gasMarginPercent: 20,
  nodeTimeoutMs: 8000,
};

/** Nodes take no replacement that raises the fees by less than a tenth. */
const LEAST = {
  maxInFlight: 1,
  bumpAfterMs: 1,
  bumpPercent: 10,
  pollIntervalMs: 1,
  gasMarginPercent: 0,
  nodeTimeoutMs: 0,
};

function readSettings(options: SenderOptions, chainId: number): EngineSettings {
  const numbers = {
    ...DEFAULTS,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
  const { maxInFlight, bumpAfterMs, bumpPercent, pollIntervalMs, gasMarginPercent, nodeTimeoutMs } = numbers;
  const given = { maxInFlight, bumpAfterMs, bumpPercent, pollIntervalMs, gasMarginPercent, nodeTimeoutMs };
  for (const [name, value] of Object.entries(given)) {
    // The names of both are the same.
    const bound = LEAST[name as keyof typeof LEAST];
    if (!Number.isInteger(value) || value < bound) {
      throw new SenderError('INVALID_ARGUMENT', `${name} is ${value}; it must be a whole number of at least ${bound}.`);
    }
  }
  const { maxFeePerGas: ceiling, whenKeyIsShared = 'resend', freeForeignAfterMs } = options;
  return { chainId, ceiling, whenKeyIsShared, freeForeignAfterMs, ...given };
}

/** Takes a lock, or says in the sender's words who has it. */
function takeLock(take: () => FileLock, held: { readonly code: SenderErrorCode; readonly message: string }): FileLock {
  try {
    return take();
  } catch (error) {
    if (error instanceof LockHeldError) throw new SenderError(held.code, held.message, { cause: error });
    throw error;
  }
}

function lockJournal(journalPath: string): FileLock {
  const path = resolve(journalPath);
  makeDirectory(dirname(path));
  // One journal has one lock, whatever way leads to it.
  const file = join(realpathSync(dirname(path)), `${basename(path)}.lock`);
  const message = 'Another process has the journal open; stop it first.';
  return takeLock(() => lockFile(file), { code: 'JOURNAL_LOCKED', message });
}

function lockAccount(options: SenderOptions, chainId: number): FileLock {
  const { account, journalPath, lockDir = dirname(resolve(journalPath)) } = options;
  const message = `Another process sends from ${account.address} on chain ${chainId}; stop it first, or use another key.`;
  return takeLock(() => lockKey(lockDir, { chainId, address: account.address }), { code: 'KEY_IN_USE', message });
}

function openChain(options: SenderOptions): Chain {
  const { rpcUrl, chainId, rpcTimeoutMs: timeoutMs = DEFAULTS.rpcTimeoutMs } = options;
  const { address } = options.account;
  // Its owner closes it.
  if (typeof rpcUrl === 'object' && 'askEach' in rpcUrl)
    return createChain({ ...rpcUrl, close: () => undefined }, address);
  const clients =
    typeof rpcUrl === 'function'
      ? [createTransportClient(rpcUrl, { timeoutMs })]
      : [rpcUrl].flat().map((url) => createRpcClient({ rpcUrl: url, timeoutMs }));
  return createChain(createRpcPool({ clients, chainId }), address);
}

/** The caller's error is not reported: events hold no secrets, and it may name a node's URL. */
function askCaller(mayBroadcast: SenderOptions['mayBroadcast']): Engine['mayBroadcast'] {
  return async (transaction) => {
    try {
      return (await mayBroadcast?.(transaction)) ?? true;
    } catch (cause) {
      const { name } = cause instanceof Error ? cause : { name: 'unknown' };
      throw new Error(`the caller does not know now whether it may be broadcast: ${name}`, { cause });
    }
  };
}

function createEngine(
  options: SenderOptions,
  parts: {
    readonly chain: Chain;
    readonly journal: Journal;
    readonly settings: EngineSettings;
    readonly nextNonce: number;
  },
): Engine {
  const { now = Date.now, monotonicNow = () => performance.now(), onEvent = () => undefined } = options;
  const { chain, journal, settings, nextNonce } = parts;
  const live = journal.list(INTENT_STATES.filter((state) => !FINAL_STATES.includes(state)));
  const rest: Loop = { schedule: () => undefined, stop: async () => undefined };
  const engine: Engine = {
    settings,
    chain,
    journal,
    account: options.account as Engine['account'],
    fees: createFeeSource({ chain, view: options.chainView, monotonicNow }),
    view: options.chainView,
    mayBroadcast: askCaller(options.mayBroadcast),
    now,
    monotonicNow,
    emit: onEvent,
    live: new Map(live.map((intent) => [intent.intentId, intent])),
    queue: live.filter(({ state }) => state === 'queued'),
    dirty: new Set(),
    waiters: new Map(),
    tasks: new Set(),
    consumers: new Map(),
    nextNonce,
    heldBelow: undefined,
    isSignerVerified: false,
    nonceSeenAtMs: monotonicNow(),
    spendableWei: undefined,
    head: undefined,
    headSeenAtMs: Number.NEGATIVE_INFINITY,
    sameHeads: 0,
    isSuspicious: false,
    unblocking: { untilMs: 0, count: 0 },
    isAboveCeiling: false,
    isShort: false,
    idleRounds: 0,
    earlyLooks: 0,
    gapRounds: 0,
    gap: undefined,
    faults: { reserve: 0, watch: 0 },
    faultyWhen: undefined,
    isClosed: false,
    reserving: rest,
    watching: rest,
  };
  engine.reserving = createLoop(() => reserveRound(engine));
  engine.watching = createLoop(() => watchRound(engine));
  return engine;
}

/**
 * Opens a sender and goes on with what its journal holds: what was signed and is not confirmed is broadcast again, the same bytes, and
 * watched until it is.
 *
 * @param options - journal, node, account; the rest has defaults
 * @throws SenderError `KEY_IN_USE`, `JOURNAL_LOCKED`, `WRONG_CHAIN`, `RPC_UNAVAILABLE`, `JOURNAL_FAILED`, `INVALID_ARGUMENT`
 * @example
 * const sender = await openSender({ journalPath: 'data/sender.sqlite', rpcUrl: 'http://127.0.0.1:8545', account });
 * const { txHash, status } = await sender.send('invoice-17', { to, data });
 */
export async function openSender(options: SenderOptions): Promise<Sender> {
  const confirmations = checkConfirmations(options.confirmations ?? DEFAULTS.confirmations);
  const patience = readSettings(options, 0);
  const undo: (() => void)[] = [];
  try {
    const journalLock = lockJournal(options.journalPath);
    undo.unshift(journalLock.release);
    const chain = openChain(options);
    undo.unshift(chain.close);
    const journal = openJournal(options.journalPath);
    undo.unshift(journal.close);
    const { chainId, pendingNonce, latestNonce } = await verifyChain({ chain, journal, options, patience });
    const keyLock = lockAccount(options, chainId);
    undo.unshift(keyLock.release);
    const nextNonce = Math.max(pendingNonce, (journal.highestNonce() ?? -1) + 1);
    const engine = createEngine(options, { chain, journal, settings: readSettings(options, chainId), nextNonce });
    engine.emit({ type: 'recovered', live: engine.live.size, nextNonce });
    takeOpeningCount(engine, { pendingNonce, latestNonce });
    engine.watching.schedule(0);
    engine.reserving.schedule(0);
    const release = () => {
      keyLock.release();
      journalLock.release();
    };
    return createSender(engine, { confirmations, release });
  } catch (error) {
    for (const step of undo) step();
    throw error;
  }
}
