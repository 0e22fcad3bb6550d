import { setTimeout as pause } from 'node:timers/promises';
import { forwarderAbi } from '@prism-gateway/contracts';
import type { Account } from '@prism-gateway/crypto/accounts';
import { createRecoverSigner } from '@prism-gateway/crypto/accounts';
import { hashForwarderDomain } from '@prism-gateway/protocol/typed-data';
import type { RelayerClient } from '@prism-gateway/sdk';
import { openSender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Logger } from 'pino';
import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { ChainError } from '../chain/chainError.ts';
import { createChainReader } from '../chain/chainReader.ts';
import { createRpc, type Rpc } from '../chain/createRpc.ts';
import { createFindExecution } from '../chain/findExecution.ts';
import { readBytes, readQuantity } from '../chain/readAnswer.ts';
import { watchChain } from '../chain/watchChain.ts';
import { openJournal } from '../journal/openJournal.ts';
import type { Metrics } from '../metrics/createMetrics.ts';
import { createCandidates } from '../queue/candidates.ts';
import { createPace } from '../queue/pace.ts';
import type { Relay } from '../relay.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { journalPath, type Settings } from '../settings/settings.ts';
import { createBackOff } from './backOff.ts';
import { createDesk } from './desk.ts';
import { createBatchThrift } from './gatherWrites.ts';

/** Chain id of Anvil and Hardhat, which make a block when a transaction comes: a second confirmation might never come. */
const DEV_CHAIN_ID = 31_337;
const DEFAULT_CONFIRMATIONS = 3;
/** How often the sender looks for blocks, in milliseconds. */
const SENDER_POLL_MS = 250;

/** Pauses between attempts to open a chain, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** What all chains share. */
export interface RelayOptions {
  readonly settings: Settings;
  readonly chain: ChainSettings;
  readonly account: Account;
  readonly gateway: RelayerClient;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** Refuses a node of another chain, and an address that is not a Forwarder of this chain: nothing signed would be valid there. */
async function meetForwarder(rpc: Rpc, { chain }: RelayOptions): Promise<number> {
  const chainId = Number(readQuantity(await rpc.call('eth_chainId', []), 'chain id'));
  if (chain.chainId !== undefined && chain.chainId !== chainId) {
    throw new ChainError(
      'WRONG_CHAIN',
      `The node of ${chain.chainName} is on chain ${chainId}, not on ${chain.chainId}.`,
    );
  }
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'domainSeparator' });
  const answer = await rpc.attempt('eth_call', [{ to: chain.forwarder, data }, 'latest']);
  // No code there answers with no bytes; nonsense is no word of any contract.
  const separator = 'result' in answer ? readBytes(answer.result, 'domain separator') : '0x';
  if (separator !== hashForwarderDomain({ chainId, forwarder: chain.forwarder })) {
    throw new ChainError(
      'WRONG_FORWARDER',
      `At ${chain.forwarder} on chain ${chainId} is no Forwarder of this version.`,
    );
  }
  return chainId;
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
export async function openRelayPatiently(options: RelayOptions): Promise<Relay | undefined> {
  const { logger, random, signal } = options;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      return await openRelay(options);
    } catch (error) {
      if (!isTransient(error)) throw error;
      // Both kinds have a message without URLs.
      logger.warn({ reason: (error as Error).message }, 'the chain cannot be opened yet; trying again');
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/**
 * Opens all that the work on one chain needs: node, journals, sender. The sender's lock on the key comes first, so that two
 * relayers by mistake on one key never share a journal.
 *
 * @throws ChainError, SenderError
 */
async function openRelay(options: RelayOptions): Promise<Relay> {
  const { settings, chain: given, account, now, metrics, logger, signal } = options;
  const rpc = createRpc({
    rpcUrl: given.rpcUrl,
    wait: (ms) => pause(ms, undefined, { signal }).catch(() => undefined),
    random: options.random,
    signal,
  });
  const chainId = await meetForwarder(rpc, options);
  // Addresses are compared in lower case here.
  const relayer = account.address.toLowerCase() as Hex;
  const path = (kind: 'relayer' | 'sender') =>
    journalPath({ dataDir: settings.dataDir, kind, address: relayer, chainId });
  const confirmations = given.confirmations ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
  const sender = await openSender({
    journalPath: path('sender'),
    rpcUrl: given.rpcUrl,
    account,
    chainId,
    confirmations,
    maxFeePerGas: given.maxFeePerGas,
    bumpAfterMs: settings.bumpAfterMs,
    pollIntervalMs: SENDER_POLL_MS,
    now,
    onEvent: (event) => logSenderEvent(logger, event),
  });
  const chain = createChainReader({ rpc, forwarder: given.forwarder, relayer });
  return {
    ...options,
    chainId,
    settings: { ...given, confirmations },
    policy: settings.policy,
    chain,
    findExecution: createFindExecution({ rpc, forwarder: given.forwarder, fromBlock: given.fromBlock }),
    state: watchChain(chain, now),
    sender,
    journal: openJournal({ path: path('relayer'), nowMs: now() }),
    desk: createDesk((error) => {
      metrics.faults.inc({ chain: given.chainName, where: 'work' });
      logger.error({ err: error }, 'work on a request failed; it goes on at the next start');
    }),
    candidates: createCandidates(),
    pace: createPace(),
    thrift: createBatchThrift(),
    recoverSigner: createRecoverSigner(),
  };
}
