import { createBackOff } from '@prism-gateway/node';
import { createRecoverSigner } from '@prism-gateway/node/accounts';
import { isJournalFault } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import { type CostModel, parseQuantity } from '@prism-gateway/node/rpc';
import { openSender, type Sender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { type ChainReader, createChainReader } from '../chain/chainReader.ts';
import { chooseConfirmations, DEV_CHAIN_ID } from '../chain/chooseConfirmations.ts';
import { findClockLag, findStaleHead } from '../chain/findClockLag.ts';
import { createFindExecution, createFindFirstUse, createFindInvalidation } from '../chain/findExecution.ts';
import { openCosts } from '../chain/openCosts.ts';
import { type ChainNode, type ChainNodes, createNodes, openNodes } from '../chain/openNodes.ts';
import { readExecutions } from '../chain/readExecutions.ts';
import { verifyRate } from '../chain/verifyRate.ts';
import { watchChain } from '../chain/watchChain.ts';
import { lower } from '../checks/fee.ts';
import { countEvents } from '../events/createMetrics.ts';
import { createRefusalWatch, FORGET_MS, type RefusalWatch } from '../events/createRefusalWatch.ts';
import { createEvents, type Events, type Listener } from '../events/events.ts';
import { listenToDisputes, listenToOutliers, updateHealth } from '../events/healthListeners.ts';
import { recordEvents } from '../events/journalEvents.ts';
import { logEvents } from '../events/logEvents.ts';
import { type Journal, openJournal } from '../journal/openJournal.ts';
import { createAdaptiveWait, MAJORITY } from '../nodes/askNodes.ts';
import { watchHead } from '../nodes/confirmReceipt.ts';
import { createSettingsDigest } from '../settings/digestSettings.ts';
import { journalPath } from '../settings/settings.ts';
import type { RelayerContext, RelayNode } from './context.ts';
import { type ChainOptions, createContext } from './createContext.ts';
import { createKeyWatch, type KeyWatch } from './keyWatch.ts';

/** How often the sender looks for blocks, in milliseconds. */
const SENDER_POLL_MS = 250;
/** How long a transaction of its key that its journal does not know may hold up all that pays, in milliseconds: longer than one of its own. */
const FREE_FOREIGN_MS = 180_000;
/** Pauses between attempts to open a chain, in milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 30_000 };

/** A chain that answers, and what is worked on it with. */
export interface OpenChain {
  readonly context: RelayerContext;
  readonly keyWatch: KeyWatch;
  readonly refusals: RefusalWatch;
}

/** The sender's events for the operator. */
const LOUD: readonly SenderEvent['type'][] = [
  'gasPriceTooHigh',
  'insufficientFunds',
  'signingFault',
  'reorged',
  'displaced',
  'gapFilled',
  'abandoned',
];

function logSenderEvent(logger: Logger, event: SenderEvent): void {
  const isLoud = LOUD.includes(event.type);
  const fields = Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
  if (isLoud) logger.warn(fields, 'sender');
  else logger.debug(fields, 'sender');
}

/** SQLITE_BUSY, _IOERR, _FULL and _CANTOPEN. @see https://sqlite.org/rescode.html */
const PASSING_FAULTS: readonly number[] = [5, 10, 13, 14];

/** Whether it is a fault of the disk that may be mended while this process waits. */
function isDiskFault(error: unknown): boolean {
  const fault = error instanceof SenderError && error.code === 'JOURNAL_FAILED' ? error.cause : error;
  if (!isJournalFault(fault) || !('errcode' in fault)) return false;
  // The lowest byte of an extended code is the code.
  return PASSING_FAULTS.includes(Number(fault.errcode) & 0xff);
}

/** Whether an error says only that a disk or a node failed, or that a node answered nonsense: it may be well again in a moment. */
function isTransient(error: unknown): boolean {
  if (isDiskFault(error)) return true;
  if (error instanceof SenderError) return error.code === 'RPC_UNAVAILABLE';
  return error instanceof ChainError && (error.code === 'RPC_UNAVAILABLE' || error.code === 'RPC_ANSWER_INVALID');
}

/**
 * Opens a chain, for as long as it takes its node to answer.
 *
 * @returns undefined if the signal ended it
 * @throws ChainError, SenderError of the kinds that waiting does not mend
 */
export async function openChain(options: ChainOptions): Promise<OpenChain | undefined> {
  const { logger, now, random, signal, health } = options;
  const onFallback = (reason: string) =>
    logger.warn({ reason }, 'the node does not know eth_simulateV1; eth_call takes its place');
  const onLeftOut = (reason: string) => health.warn(reason, reason, Number.POSITIVE_INFINITY);
  const access = { chain: options.chain, log: logger, now, random, onFallback, onLeftOut, signal };
  const all = createNodes(access);
  let nodes: ChainNodes | undefined;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  for (;;) {
    try {
      nodes ??= await openNodes(access, all);
      return await openOnce(options, nodes);
    } catch (error) {
      // All kinds have a message without URLs.
      const { message } = error as Error;
      health.recordFailure(isDiskFault(error) ? 'journal' : 'chain', message);
      if (!isTransient(error)) throw error;
      logger.warn({ reason: message }, 'the chain cannot be opened yet; trying again');
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/**
 * The newest block is what is read again all the time: whether it can be read shows whether the chain is seen.
 *
 * @param watch.maxAgeSeconds - of the newest block of an only node; 0: any
 */
function watchBlocks(
  reader: ChainReader,
  events: Events,
  { now, maxAgeSeconds }: { readonly now: () => number; readonly maxAgeSeconds: number },
): ChainReader {
  return {
    ...reader,
    async block() {
      try {
        const block = await reader.block();
        const show = (part: 'chain' | 'clock', reason: string | undefined) =>
          events.emit(reason === undefined ? { type: 'part-well', part } : { type: 'part-failed', part, reason });
        show('chain', findStaleHead(block.timestamp, now(), maxAgeSeconds));
        show('clock', findClockLag(block.timestamp, now()));
        return block;
      } catch (error) {
        if (error instanceof ChainError) events.emit({ type: 'part-failed', part: 'chain', reason: error.message });
        throw error;
      }
    },
  };
}

/** Finds out how the chain charges, and whether the rate makes sense with that: before anything is opened that a second attempt would find in use. */
async function openPrices({ chain, logger }: ChainOptions, { chainId, rpc, nodes }: ChainNodes): Promise<CostModel> {
  const costs = await openCosts(rpc, nodes);
  logger.info({ chainId, model: costs.kind }, `what the chain charges: ${costs.description}`);
  const gasPrice = lower(
    await rpc.read(['eth_gasPrice'], (answer) => parseQuantity(answer, 'gas price')),
    chain.maxFeePerGas,
  );
  await verifyRate(rpc, { forwarder: chain.forwarder, creditsPerEth: chain.creditsPerEth, gasPrice });
  return costs;
}

/** Makes the questions to one node. */
function openNode(
  { name, isSilent, rpc }: ChainNode,
  options: {
    readonly forwarder: Hex;
    readonly relayer: Hex;
    readonly costs: CostModel;
    /** Block in which the Forwarder's events begin. */
    readonly fromBlock: bigint;
    readonly monotonicNow: () => number;
  },
): RelayNode {
  return {
    name,
    rpc,
    reader: createChainReader({ ...options, rpc }),
    findExecution: createFindExecution({ ...options, rpc }),
    findInvalidation: createFindInvalidation({ ...options, rpc }),
    findFirstUse: createFindFirstUse({ ...options, rpc }),
    wait: createAdaptiveWait(isSilent),
    isStuck: watchHead(options.monotonicNow),
    silence: { untilMs: Number.NEGATIVE_INFINITY },
  };
}

/** A transaction stands in a block, however deep: what its signers have signed next is in its turn. */
function touchMined({ journal, gateway, wake }: RelayerContext, intentId: string): void {
  const requests = journal.submission(intentId)?.requestIds.map((requestId) => journal.get(requestId)) ?? [];
  const signers = requests.flatMap((request) => request?.signatures.map(({ signer }) => signer) ?? []);
  for (const signer of new Set(signers)) gateway.candidates.touch(signer);
  wake();
}

/** Opens the relayer's journal beside the sender's, which is closed if that fails: another attempt would find its key in use. */
async function openOwnJournal(sender: Sender, options: Parameters<typeof openJournal>[0]): Promise<Journal> {
  try {
    return openJournal(options);
  } catch (error) {
    await sender.close();
    throw error;
  }
}

/** The sender locks the key first: two processes must not share a journal. */
async function openOnce(options: ChainOptions, opened: ChainNodes): Promise<OpenChain> {
  const { settings, chain: given, account, metrics, health, now, monotonicNow, logger: log } = options;
  const { chainId, rpc, nodes } = opened;
  const { chainName, forwarder, fromBlock } = given;
  const costs = await openPrices(options, opened);
  // Addresses are compared in lower case here.
  const relayer = account.address.toLowerCase() as Hex;
  const path = (kind: 'relayer' | 'sender') =>
    journalPath({ dataDir: settings.dataDir, kind, address: relayer, chainId });
  const confirmations = chooseConfirmations(chainId, given.confirmations);
  // Blocks of a development chain come with transactions alone.
  const maxHeadAgeSeconds = chainId === DEV_CHAIN_ID ? 0 : settings.policy.maxHeadAgeSeconds;
  const policy = { ...settings.policy, ...given, confirmations, maxHeadAgeSeconds };
  const listeners: Listener[] = [updateHealth(health), countEvents(metrics, chainName), logEvents(log)];
  const events = createEvents(listeners);
  const maxAgeSeconds = nodes.length < MAJORITY ? maxHeadAgeSeconds : 0;
  const reader = watchBlocks(createChainReader({ rpc, forwarder, relayer, costs }), events, { now, maxAgeSeconds });
  const state = watchChain(reader, { now, monotonicNow, confirmations });
  // The journal is opened after the sender, which may have something to report by then.
  const early: SenderEvent[] = [];
  let chainAtWork: OpenChain | undefined;
  let takeForeign: KeyWatch['take'] = (event) => void early.push(event);
  const sender = await openSender({
    journalPath: path('sender'),
    lockDir: settings.lockDir,
    rpcUrl: rpc.pool,
    ...{ account, chainId, confirmations, now, monotonicNow },
    maxFeePerGas: given.maxFeePerGas,
    bumpAfterMs: settings.bumpAfterMs,
    pollIntervalMs: SENDER_POLL_MS,
    chainView: { market: state.head, blockMs: state.blockMs, nextBlockInMs: state.nextBlockInMs },
    whenKeyIsShared: 'reject',
    freeForeignAfterMs: FREE_FOREIGN_MS,
    onEvent(event) {
      logSenderEvent(log, event);
      if (event.type === 'foreign' || event.type === 'outlier') takeForeign(event);
      if (event.type === 'mined' && chainAtWork !== undefined) touchMined(chainAtWork.context, event.intentId);
    },
  });
  const digestSettings = createSettingsDigest({ policy: settings.policy, chain: given });
  const journal = await openOwnJournal(sender, { path: path('relayer'), nowMs: now(), digestSettings });
  const names = nodes.map(({ name }) => name);
  const count = (node: string, times = 1) => metrics.outliers.inc({ chain: chainName, node }, times);
  for (const node of names) count(node, 0);
  const isKnownPayer = (signer: string) => journal.paidNet(signer.toLowerCase()) > 0n;
  const { hasKnownPayers } = journal;
  const leftBefore = journal.leftSince(now() - FORGET_MS);
  const refusals = createRefusalWatch({ health, isKnownPayer, hasKnownPayers, now, leftBefore });
  listeners.push(
    listenToOutliers({ names, deprioritize: rpc.pool.deprioritize, health, journal, log, count, now, monotonicNow }),
    listenToDisputes(health, monotonicNow),
    recordEvents({ journal, log, now }),
    refusals.listener,
  );
  const keyWatch = createKeyWatch({ sender, journal, events, now, monotonicNow });
  for (const event of early) keyWatch.take(event);
  takeForeign = keyWatch.take;
  const anybody = { rpc, forwarder, signer: undefined, nonce: undefined };
  const chain = {
    ...{ chainId, forwarder, relayer, recoverSigner: createRecoverSigner(), reader, state, sender },
    nodes: nodes.map((node) => openNode(node, { forwarder, relayer, costs, fromBlock, monotonicNow })),
    readExecuted: async (range: Parameters<typeof readExecutions>[1]) =>
      (await readExecutions(anybody, range))?.executions ?? [],
    isKeyShared: keyWatch.isShared,
  };
  chainAtWork = { context: createContext(options, { chain, journal, policy, events }), keyWatch, refusals };
  return chainAtWork;
}
