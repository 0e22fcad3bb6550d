import { createRecoverSigner } from '@prism-gateway/crypto/accounts';
import type { CostModel } from '@prism-gateway/rpc';
import { createBackOff } from '@prism-gateway/runtime';
import type { Logger } from '@prism-gateway/runtime/logs';
import { openSender, type Sender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { type ChainReader, createChainReader } from '../chain/chainReader.ts';
import { type ChainRpc, createChainRpc } from '../chain/createChainRpc.ts';
import { createFindExecution } from '../chain/findExecution.ts';
import { createFindInvalidation } from '../chain/findInvalidation.ts';
import { verifyForwarder } from '../chain/verifyForwarder.ts';
import { type ChainState, watchChain } from '../chain/watchChain.ts';
import { type Journal, openJournal } from '../journal/openJournal.ts';
import { journalPath } from '../settings/settings.ts';
import { type AskPorts, askChain } from './askChain.ts';
import { type AskedNode, createAskNodes, createTrustHead } from './askNodes.ts';
import type { ChainOptions, Lifecycle } from './chainWork.ts';
import { createBearOut } from './createBearOut.ts';
import type { Health } from './createHealth.ts';
import { createLifecycle } from './createLifecycle.ts';

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
  readonly journal: Journal;
}

function logSenderEvent(logger: Logger, event: SenderEvent): void {
  const isLoud = ['gasPriceTooHigh', 'insufficientFunds', 'reorged', 'displaced', 'gapFilled', 'abandoned'].includes(
    event.type,
  );
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
  const { rpcUrls } = options.chain;
  const onFallback = (reason: string) =>
    logger.warn({ reason }, 'the node does not know eth_simulateV1; eth_call takes its place');
  const rpc = createChainRpc({ rpcUrls, now, random, onFallback, signal });
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      return await openOnce(options, rpc);
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

/** The head is what is read again every moment: whether it can be read tells whether the chain is seen. */
function noteHeads(chain: ChainReader, health: Health): ChainReader {
  return {
    ...chain,
    async head() {
      try {
        const head = await chain.head();
        health.noteWell('chain');
        return head;
      } catch (error) {
        if (error instanceof ChainError) health.noteFailure('chain', error.message);
        throw error;
      }
    },
  };
}

/** Each node by itself: whichever of them the chain is read from, others have to bear it out. */
function openWitnesses({ chain, now, random, signal }: ChainOptions, rpc: ChainRpc): readonly ChainRpc[] {
  if (chain.rpcUrls.length === 1) return [rpc];
  const onFallback = () => undefined;
  return chain.rpcUrls.map((rpcUrl) => createChainRpc({ rpcUrls: [rpcUrl], now, random, onFallback, signal }));
}

/** Makes the question to one node. */
function createReaderAsk(
  options: {
    readonly rpc: ChainRpc;
    readonly relayer: Hex;
    readonly fromBlock: bigint;
    readonly costs: CostModel;
  } & {
    readonly forwarder: Hex;
  } & Pick<AskPorts, 'state' | 'recovery' | 'confirmations'>,
): AskedNode {
  const { rpc, forwarder, relayer, fromBlock, costs, ...rest } = options;
  const chain = createChainReader({ rpc, forwarder, relayer, costs });
  const events = { rpc, forwarder, fromBlock };
  const ports = {
    ...rest,
    chain,
    findExecution: createFindExecution(events),
    findInvalidation: createFindInvalidation(events),
  };
  return { head: () => chain.head(), ask: (request, bounds) => askChain(ports, { request, ...bounds }) };
}

/** The sender's lock on the key comes first, so that two relayers by mistake on one key never share a journal. */
async function openOnce(options: ChainOptions, rpc: ChainRpc): Promise<OpenChain> {
  const { settings, chain: given, account, now, logger, health } = options;
  const chainId = await verifyForwarder(rpc, options.chain);
  // Before anything is opened that a second attempt would find in use.
  const costs = await rpc.openCosts();
  logger.info({ chainId, model: costs.kind }, `what the chain charges: ${costs.description}`);
  // Addresses are compared in lower case here.
  const relayer = account.address.toLowerCase() as Hex;
  const path = (kind: 'relayer' | 'sender') =>
    journalPath({ dataDir: settings.dataDir, kind, address: relayer, chainId });
  const confirmations = given.confirmations ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
  let onMined: Lifecycle['noteMined'] = () => undefined;
  const sender = await openSender({
    journalPath: path('sender'),
    lockDir: settings.lockDir,
    rpcUrl: given.rpcUrls,
    account,
    chainId,
    confirmations,
    maxFeePerGas: given.maxFeePerGas,
    bumpAfterMs: settings.bumpAfterMs,
    pollIntervalMs: SENDER_POLL_MS,
    now,
    onEvent(event) {
      logSenderEvent(logger, event);
      if (event.type === 'mined') onMined(event.intentId);
    },
  });
  const { forwarder, fromBlock } = given;
  const chain = noteHeads(createChainReader({ rpc, forwarder, relayer, costs }), health);
  const state = watchChain(chain, { now, confirmations });
  const journal = openJournal({ path: path('relayer'), nowMs: now() });
  const recovery = { chainId, forwarder, recoverSigner: createRecoverSigner() };
  const asked = { forwarder, relayer, fromBlock, costs, state, recovery, confirmations };
  const witnesses = openWitnesses(options, rpc);
  const nodes = witnesses.map((witness) => createReaderAsk({ ...asked, rpc: witness }));
  // Its blocks come with transactions alone.
  const maxHeadAgeSeconds = chainId === DEV_CHAIN_ID ? 0 : settings.policy.maxHeadAgeSeconds;
  const asking = { nodes, maxHeadAgeSeconds, now };
  const [askNodes, trustHead] = [createAskNodes(asking), createTrustHead({ ...asking, head: () => chain.head() })];
  const bearOut = createBearOut({ witnesses, from: relayer, confirmations, health, now });
  const parts = { chain, state, sender, journal, askNodes, trustHead, bearOut, recovery, confirmations };
  const lifecycle = createLifecycle(options, parts);
  onMined = lifecycle.noteMined;
  return { chainId, state, sender, journal, lifecycle };
}
