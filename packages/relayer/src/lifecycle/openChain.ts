import { createRecoverSigner } from '@prism-gateway/crypto/accounts';
import { type CostModel, parseQuantity } from '@prism-gateway/rpc';
import { createBackOff } from '@prism-gateway/runtime';
import type { Logger } from '@prism-gateway/runtime/logs';
import { openSender, type Sender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { type ChainReader, createChainReader } from '../chain/chainReader.ts';
import { createFindExecution } from '../chain/createFindExecution.ts';
import { createFindInvalidation } from '../chain/createFindInvalidation.ts';
import { openCosts } from '../chain/openCosts.ts';
import { type ChainNode, type ChainNodes, createNodes, openNodes } from '../chain/openNodes.ts';
import { readExecutions } from '../chain/readExecutions.ts';
import { verifyRate } from '../chain/verifyRate.ts';
import { type ChainState, watchChain } from '../chain/watchChain.ts';
import { lower } from '../checks/transactionTerms.ts';
import { type Journal, openJournal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { journalPath } from '../settings/settings.ts';
import { type AskPorts, askChain } from './askChain.ts';
import { type AskedNode, createAskNodes, createTrustHead } from './askNodes.ts';
import type { ChainOptions, ChainParts, Lifecycle } from './chainWork.ts';
import { createBearOut } from './createBearOut.ts';
import { createBearRefusal, type RefusalWitness } from './createBearRefusal.ts';
import type { ReadExecuted } from './createExecutionWatch.ts';
import type { Health } from './createHealth.ts';
import { createKeyWatch, type KeyWatch } from './createKeyWatch.ts';
import { createLifecycle } from './createLifecycle.ts';
import { createDisputes, createNodeNotes, type NoteAlone } from './createNodeNotes.ts';
import { createNodeWatch, type WatchedNode } from './createNodeWatch.ts';
import { createSimulateTogether } from './createSimulateTogether.ts';

/** Chain id of Anvil and Hardhat, which make a block when a transaction comes: a second confirmation might never come. */
const DEV_CHAIN_ID = 31_337;
const DEFAULT_CONFIRMATIONS = 3;
/** How often the sender looks for blocks, in milliseconds. */
const SENDER_POLL_MS = 250;

/** Pauses between attempts to open a chain, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** A chain that answers, and what is worked on it. */
export interface OpenChain {
  readonly chainId: number;
  readonly lifecycle: Lifecycle;
  readonly state: ChainState;
  readonly sender: Sender;
  readonly keyWatch: KeyWatch;
  readonly journal: Journal;
  /** Looks whether a node is alone with what all requests are judged by. */
  readonly lookAtNodes: () => Promise<void>;
}

/** What a sender tells that an operator is to see. */
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

/** Whether an error says only that a node did not answer, or nonsense: it may be well again in a moment. */
function isTransient(error: unknown): boolean {
  if (error instanceof SenderError) return error.code === 'RPC_UNAVAILABLE';
  return error instanceof ChainError && (error.code === 'RPC_UNAVAILABLE' || error.code === 'RPC_ANSWER_INVALID');
}

/**
 * Opens a chain, for as long as it takes its node to answer.
 *
 * @returns undefined where the signal ended it
 * @throws ChainError, SenderError of the kinds that waiting does not mend
 */
export async function openChain(options: ChainOptions): Promise<OpenChain | undefined> {
  const { logger, now, random, signal, health } = options;
  const onFallback = (reason: string) =>
    logger.warn({ reason }, 'the node does not know eth_simulateV1; eth_call takes its place');
  const context = { chain: options.chain, log: logger, now, random, onFallback, signal };
  const all = createNodes(context);
  let nodes: ChainNodes | undefined;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      nodes ??= await openNodes(context, all);
      return await openOnce(options, nodes);
    } catch (error) {
      // All kinds have a message without URLs.
      const { message } = error as Error;
      health.noteFailure('chain', message);
      if (!isTransient(error)) throw error;
      logger.warn({ reason: message }, 'the chain cannot be opened yet; trying again');
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/** By how much a newest block may be later than this machine's clock, in seconds. */
const MAX_LEAD_SECONDS = 60;

/** A block may be old, for a chain may stand still; but none is of the future. */
function compareClocks(health: Health, timestamp: bigint, nowMs: number): void {
  const leadSeconds = Number(timestamp) - Math.floor(nowMs / 1000);
  const fault = `it is ${leadSeconds} seconds behind the chain's newest block; set the clock of this machine`;
  if (leadSeconds <= MAX_LEAD_SECONDS) health.noteWell('clock');
  else health.noteFailure('clock', fault);
}

/** The head is what is read again every moment: whether it can be read tells whether the chain is seen. */
function noteHeads(chain: ChainReader, { health, now }: Pick<ChainOptions, 'health' | 'now'>): ChainReader {
  return {
    ...chain,
    async head() {
      try {
        const head = await chain.head();
        health.noteWell('chain');
        compareClocks(health, head.timestamp, now());
        return head;
      } catch (error) {
        if (error instanceof ChainError) health.noteFailure('chain', error.message);
        throw error;
      }
    },
  };
}

/** The sender's lock on the key comes first, so that two relayers by mistake on one key never share a journal. */
async function openOnce(options: ChainOptions, { chainId, rpc, nodes }: ChainNodes): Promise<OpenChain> {
  const { settings, chain: given, account, now, logger, health } = options;
  // Before anything is opened that a second attempt would find in use.
  const costs = await openCosts(rpc, nodes);
  logger.info({ chainId, model: costs.kind }, `what the chain charges: ${costs.description}`);
  const gasPrice = lower(
    await rpc.read(['eth_gasPrice'], (answer) => parseQuantity(answer, 'gas price')),
    given.maxFeePerGas,
  );
  await verifyRate(rpc, { forwarder: given.forwarder, creditsPerEth: given.creditsPerEth, gasPrice });
  // Addresses are compared in lower case here.
  const relayer = account.address.toLowerCase() as Hex;
  const path = (kind: 'relayer' | 'sender') =>
    journalPath({ dataDir: settings.dataDir, kind, address: relayer, chainId });
  const confirmations = given.confirmations ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
  let onMined: Lifecycle['noteMined'] = () => undefined;
  // The journal is opened after the sender, which may have something to tell by then.
  const early: SenderEvent[] = [];
  let onForeign: KeyWatch['take'] = (event) => void early.push(event);
  const sender = await openSender({
    journalPath: path('sender'),
    lockDir: settings.lockDir,
    rpcUrl: nodes.map(({ rpcUrl }) => rpcUrl),
    account,
    chainId,
    confirmations,
    maxFeePerGas: given.maxFeePerGas,
    bumpAfterMs: settings.bumpAfterMs,
    pollIntervalMs: SENDER_POLL_MS,
    whenKeyIsShared: 'reject',
    now,
    onEvent(event) {
      logSenderEvent(logger, event);
      if (event.type === 'foreign' || event.type === 'outvoted') onForeign(event);
      if (event.type === 'mined') onMined(event.intentId);
    },
  });
  const { forwarder, fromBlock } = given;
  const chain = noteHeads(createChainReader({ rpc, forwarder, relayer, costs }), options);
  const state = watchChain(chain, { now, confirmations });
  const journal = openJournal({ path: path('relayer'), nowMs: now() });
  const { outvoted } = options.metrics;
  const names = nodes.map(({ name }) => name);
  for (const node of names) outvoted.inc({ chain: given.chainName, node }, 0);
  const noteAlone = createNodeNotes({
    ...{ names, health, journal, log: logger, now },
    count: (node) => outvoted.inc({ chain: given.chainName, node }),
    distrust(node) {
      rpc.distrust(node);
      sender.distrust(node);
    },
  });
  const keyWatch = createKeyWatch({
    ...{ sender, journal, health, noteAlone, now, log: logger },
    count: (transactions) => options.metrics.foreign.inc({ chain: given.chainName }, transactions),
  });
  for (const event of early) keyWatch.take(event);
  onForeign = keyWatch.take;
  const recovery = { chainId, forwarder, recoverSigner: createRecoverSigner() };
  // Its blocks come with transactions alone.
  const maxHeadAgeSeconds = chainId === DEV_CHAIN_ID ? 0 : settings.policy.maxHeadAgeSeconds;
  const asked = {
    settings: given,
    noteAlone,
    nodes,
    chain,
    state,
    recovery,
    confirmations,
    fromBlock,
    costs,
    maxHeadAgeSeconds,
    health,
    now,
  };
  const questions = openQuestions(asked);
  const anybody = { rpc, forwarder, signer: undefined, nonce: undefined };
  const readExecuted: ReadExecuted = async (range) => (await readExecutions(anybody, range))?.executions ?? [];
  const parts = { chain, state, sender, keyWatch, journal, recovery, confirmations, readExecuted, ...questions };
  const lifecycle = createLifecycle(options, parts);
  onMined = lifecycle.noteMined;
  const { lookAtNodes } = questions;
  return { chainId, state, sender, keyWatch, journal, lookAtNodes, lifecycle };
}

/** What the questions to each node go through. */
interface QuestionOptions extends Pick<AskPorts, 'recovery' | 'confirmations'> {
  readonly state: Pick<ChainState, 'policy' | 'seconds'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas'>;
  readonly noteAlone: NoteAlone;
  readonly nodes: readonly ChainNode[];
  /** The chain as the checks see it. */
  readonly chain: Pick<ChainReader, 'head' | 'forwarder' | 'relayer' | 'simulate'>;
  /** Block in which the Forwarder's events begin. */
  readonly fromBlock: bigint;
  readonly costs: CostModel;
  /** Age from which a newest block is stale, in seconds; 0: none is. */
  readonly maxHeadAgeSeconds: number;
  readonly health: Pick<Health, 'noteWell' | 'noteFailure' | 'warn'>;
  readonly now: () => number;
}

/** Makes the question to one node. */
function createReaderAsk(
  { name, isSilent, rpc }: ChainNode,
  options: QuestionOptions,
): AskedNode & Pick<RefusalWitness, 'chain'> & WatchedNode {
  const { chain: all, fromBlock, costs, state, recovery, confirmations } = options;
  const { forwarder, relayer } = all;
  const chain = createChainReader({ rpc, forwarder, relayer, costs });
  const events = { rpc, forwarder, fromBlock };
  const ports = {
    ...{ chain, state, recovery, confirmations },
    findExecution: createFindExecution(events),
    findInvalidation: createFindInvalidation(events),
  };
  return {
    name,
    isSilent,
    chain,
    head: () => chain.head(),
    ask: (request, knownBlock) => askChain(ports, { request, knownBlock }),
  };
}

/** Makes the questions whose answers end requests: whichever node the chain is read from, the others have to bear it out. */
function openQuestions(
  options: QuestionOptions,
): Pick<ChainParts, 'askNodes' | 'bearRefusal' | 'bearOut' | 'simulateTogether' | 'lookAtNodes'> {
  const { nodes: witnesses, chain, confirmations, maxHeadAgeSeconds, noteAlone, now } = options;
  const nodes = witnesses.map((node) => createReaderAsk(node, options));
  const noteDispute = createDisputes(options);
  const asking = { nodes, maxHeadAgeSeconds, now };
  const trustHead = createTrustHead({ ...asking, head: () => chain.head() });
  return {
    askNodes: createAskNodes({ ...asking, noteDispute }),
    bearRefusal: createBearRefusal({ ...options, nodes, trustHead, noteDispute }),
    lookAtNodes: createNodeWatch({ nodes, noteAlone, health: options.health, now }),
    simulateTogether: createSimulateTogether({ chain, nodes, noteDispute, now }),
    bearOut: createBearOut({ witnesses, from: chain.relayer, confirmations, noteDispute, noteAlone, now }),
  };
}
