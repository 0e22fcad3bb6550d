import { ChainError } from '../chain/chainError.ts';
import type { BlockRange } from '../chain/createWalkBack.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { Candidates } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';

/** Of more blocks since the last look only the newest is read: what waits is looked at every ten seconds in any case. */
const MAX_BLOCKS = 100n;

/** Whose request was carried out, and by whom: addresses in whatever case. */
export interface Executed {
  readonly signer: string;
  readonly relayer: string;
}

/** Reads whose requests were carried out in some blocks, and by whom. @throws ChainError */
export type ReadExecuted = (range: BlockRange) => Promise<readonly Executed[]>;

/**
 * Makes the look for signers whose turn has come by somebody else's transaction: what waits for an earlier request of theirs is judged anew
 * with the block that has that, and not only when its pause is over. Nothing is asked while nothing waits.
 *
 * @param ports.relayer - its own address, in lower case: of its own transactions it knows without asking
 * @param ports.wake - has the queue looked at now rather than after the pause
 * @returns looks at the blocks since the last look
 * @see docs/specification.md RELAY-27
 */
export function createExecutionWatch(ports: {
  readonly state: Pick<ChainState, 'head'>;
  readonly readExecuted: ReadExecuted;
  readonly relayer: string;
  readonly candidates: Pick<Candidates, 'touch' | 'countReasons'>;
  readonly notes: Pick<ChainNotes, 'fault'>;
  readonly wake: () => void;
}): () => Promise<void> {
  const { state, readExecuted, relayer, candidates, notes, wake } = ports;
  let seen: bigint | undefined;
  let isLooking = false;

  async function look(): Promise<void> {
    const { number } = await state.head();
    const fromBlock = seen === undefined || number - seen > MAX_BLOCKS ? number : seen + 1n;
    if (fromBlock > number) return;
    const executed = await readExecuted({ fromBlock, toBlock: number });
    seen = number;
    const others = executed.filter((one) => one.relayer.toLowerCase() !== relayer);
    const signers = new Set(others.map(({ signer }) => signer.toLowerCase()));
    for (const signer of signers) candidates.touch(signer);
    if (signers.size > 0) wake();
  }

  return async function lookForExecutions() {
    if (isLooking || (candidates.countReasons().get('nonceAhead') ?? 0) === 0) return;
    isLooking = true;
    try {
      await look();
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      notes.fault('chain');
    } finally {
      isLooking = false;
    }
  };
}
