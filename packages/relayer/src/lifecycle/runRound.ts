import { ChainError } from '../chain/chainError.ts';
import { isClaimable, isDue } from './candidates.ts';
import type { RelayerContext } from './context.ts';
import { evaluateRequests } from './evaluateRequests.ts';
import { countRoom, pickClaims, type RoundResult } from './pickClaims.ts';

/**
 * Looks at the queue once: reads what is pending, has evaluated what is new, and begins to claim some of what pays. The chain is asked nothing
 * while there is nothing to evaluate or claim.
 *
 * @throws GatewayError, ChainError if one of them does not answer
 */
export async function runRound(context: RelayerContext): Promise<RoundResult> {
  const { gateway, inFlight, now } = context;
  const seen = await gateway.queue.look();
  const isWork = seen.some((candidate) => isDue(candidate, now()) || isClaimable(candidate));
  if (inFlight.untrusted.fault === undefined && !isWork) return 'idle';
  if ((await countRoom(context)) === 0) return 'idle';
  await evaluateRequests(context, seen);
  return await pickClaims(context, seen);
}

/**
 * Of more blocks since the last look only the newest is read: what waits is looked at every two minutes in any case. So it is if the last one
 * was so far ahead: then it was made up.
 */
const MAX_BLOCKS = 100n;

/**
 * Makes the look for signers whose turn has come by somebody else's transaction: what waits for an earlier request of theirs is evaluated anew
 * with the block that has that, and not only when its pause is over. Nothing is asked while nothing waits.
 *
 * @returns looks at the blocks since the last look
 * @see docs/specification.md RELAY-27
 */
export function createExecutionWatch({ chain, gateway, events, wake }: RelayerContext): () => Promise<void> {
  let seen: bigint | undefined;
  let isLooking = false;

  async function look(): Promise<void> {
    const { number } = await chain.state.block();
    const last = seen ?? number - 1n;
    const fromBlock = number - last > MAX_BLOCKS || last - number > MAX_BLOCKS ? number : last + 1n;
    if (fromBlock > number) return;
    const executed = await chain.readExecuted({ fromBlock, toBlock: number });
    seen = number;
    const others = executed.filter((one) => one.relayer.toLowerCase() !== chain.relayer);
    const signers = new Set(others.map(({ signer }) => signer.toLowerCase()));
    for (const signer of signers) gateway.candidates.touch(signer);
    if (signers.size > 0) wake();
  }

  return async function lookForExecutions() {
    const waiting = gateway.candidates.countAll().get('nonceAhead') ?? 0;
    if (isLooking || waiting === 0) return;
    isLooking = true;
    try {
      await look();
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      events.emit({ type: 'fault', where: 'chain' });
    } finally {
      isLooking = false;
    }
  };
}
