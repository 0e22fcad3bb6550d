import type { Sender } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { PendingQueue } from '../gateway/pendingQueue.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import { type JudgePorts, judgeRequests } from './judgeRequests.ts';
import type { RoundResult } from './pickClaims.ts';

/** Gas that a request is taken to need as long as it is not known, for what the ether suffices for. */
const TYPICAL_GAS = 400_000n;
/** A call that carries a short text, as large as most are. */
const TYPICAL_DATA: Hex = `0x${'5a'.repeat(600)}`;

export interface RoundPorts {
  readonly queue: PendingQueue;
  readonly judging: JudgePorts;
  readonly countRoom: () => Promise<number>;
}

/** How many more requests the relayer can submit: what its limit, and its ether, leave. */
export async function countRoom(ports: {
  readonly inFlight: Pick<InFlight, 'size' | 'reservedGas'>;
  readonly state: Pick<ChainState, 'balance' | 'head'>;
  readonly chain: Pick<ChainReader, 'extraCost'>;
  readonly settings: Pick<ChainSettings, 'maxInFlight' | 'maxFeePerGas'>;
  readonly sender: Pick<Sender, 'isHeld'>;
  readonly journal: Pick<Journal, 'isFailing'>;
  readonly notes: Pick<ChainNotes, 'balance'>;
}): Promise<number> {
  const { chain, inFlight, settings, state, sender, journal, notes } = ports;
  const [balance, { gasReserve }] = await Promise.all([state.balance(), state.head()]);
  notes.balance(balance);
  const room = settings.maxInFlight - inFlight.size;
  // What is claimed while nothing can be sent, or written down, would be kept from others.
  if (room <= 0 || sender.isHeld() || journal.isFailing()) return 0;
  const [price = 0n] = [gasReserve, settings.maxFeePerGas].toSorted((a, b) => (a < b ? -1 : 1));
  const extra = await chain.extraCost(TYPICAL_DATA, TYPICAL_GAS);
  const left = balance - inFlight.reservedGas() * price;
  const each = (TYPICAL_GAS + extra.gas) * price + extra.wei;
  return left <= 0n ? 0 : Math.min(room, Number(left / (each || 1n)));
}

/**
 * Looks at the queue once: reads what is pending, has judged what is new, and begins to claim some of what pays.
 *
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function runRound(ports: RoundPorts): Promise<RoundResult> {
  const { queue, judging, countRoom } = ports;
  const wanted = await countRoom();
  if (wanted === 0) return 'idle';
  return await judgeRequests(judging, await queue.look(wanted));
}
