import { createPublicClient, HttpRequestError, type PublicClient } from 'viem';
import { connectNode } from '../chain/connectNode.ts';
import { NodeBehindError } from '../chain/createChainView.ts';
import { explainError } from '../explainError.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Settings } from '../settings/settings.ts';

/** Something that a command needs does not answer, or is not what its setting says. */
export class UnreachedError extends Error {
  override readonly name = 'UnreachedError';
  readonly code = 'NOT_REACHED';

  /**
   * @param facts.seen - one clause: what was asked and what came of it; without an address, which may hold a key
   * @param facts.setting - what names it
   * @param facts.act - one clause: what to do
   */
  constructor(facts: { readonly seen: string; readonly setting: string; readonly act: string }) {
    super(`${facts.seen}. ${facts.setting} names it: ${facts.act}.`);
  }
}

/** A node that a command asks. */
export interface OpenedNode {
  readonly client: PublicClient;
  readonly chainId: number;
}

/** Attempts of a call; with `RPC_TIMEOUT_MS` they bound how long a command waits. */
const ATTEMPTS = 2;
const SETTING = 'RPC_URL';

/** A node's silence, refusal or nonsense in words, without its URL. */
function describeFault(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof HttpRequestError) return at.details;
  return explainError(error);
}

/**
 * Makes what a node's failure means of whatever was thrown.
 *
 * @param error - of a call to a node
 * @returns what could not be reached, which setting names it, and what to do
 */
export function toUnreachedNode(error: unknown): UnreachedError {
  if (error instanceof UnreachedError) return error;
  if (error instanceof NodeBehindError)
    return new UnreachedError({ seen: error.message.replace(/\.$/, ''), setting: SETTING, act: 'name another node' });
  const seen = `The node does not answer as it should: ${describeFault(error)}`;
  return new UnreachedError({ seen, setting: SETTING, act: 'see whether it is up and whether its key is right' });
}

/** The chain that the journal was kept on; 0: nobody knows. */
function chainOf(journal: Pick<PaymentJournal, 'fact'> | undefined): number {
  return Number(/ on chain (\d+)$/.exec(journal?.fact('owner') ?? '')?.[1] ?? 0);
}

/**
 * Opens a node, and makes sure that it is of the right chain.
 *
 * @param settings - the node; `CHAIN_ID`, if it is set, must be its chain
 * @throws UnreachedError `NOT_REACHED` if it does not answer, or is of another chain
 */
export async function openNode(
  settings: Pick<Settings<'deploy-payouts'>, 'CHAIN_ID' | 'RPC_POLL_INTERVAL_MS' | 'RPC_TIMEOUT_MS' | 'RPC_URL'>,
  journal?: Pick<PaymentJournal, 'fact'>,
): Promise<OpenedNode> {
  const { RPC_URL: rpcUrl, RPC_TIMEOUT_MS: timeoutMs, RPC_POLL_INTERVAL_MS: pollingInterval } = settings;
  const { signal } = new AbortController();
  const transport = connectNode({ rpcUrl, timeoutMs, attempts: ATTEMPTS, signal });
  const client = createPublicClient({ transport, pollingInterval });
  const chainId = await client.getChainId().catch((error: unknown) => {
    throw toUnreachedNode(error);
  });
  const wanted = [settings.CHAIN_ID, chainOf(journal)].find((known) => known !== 0 && known !== chainId);
  if (wanted === undefined) return { client, chainId };
  const seen = `The node is of chain ${chainId}, and it should be of chain ${wanted}`;
  throw new UnreachedError({ seen, setting: SETTING, act: `name a node of chain ${wanted}` });
}
