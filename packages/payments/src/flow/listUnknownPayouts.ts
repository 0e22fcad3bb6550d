import { FINAL_STATES, INTENT_STATES, type Intent, type Sender } from '@prism-gateway/sender';
import { isAddressEqual } from 'viem';
import { readMark } from '../chain/marks.ts';
import type { RelayerContext } from './relayerContext.ts';

/** Those that were live when last looked at; none can join them, for this process journals each payout before the sender hears of it. */
const liveBy = new WeakMap<RelayerContext, readonly Intent[]>();

/** Not yet mined deep enough, and not given up. */
function isLive(sender: Sender, intentId: string): boolean {
  const intent = sender.get(intentId);
  return intent !== undefined && !FINAL_STATES.includes(intent.state);
}

function findUnknown({ sender, journal, config }: RelayerContext): readonly Intent[] {
  const live = sender.list({ states: INTENT_STATES.filter((state) => !FINAL_STATES.includes(state)) });
  return live.filter(
    ({ intentId, call }) =>
      isAddressEqual(call.to, config.creditToken) && readMark(call.data) !== undefined && !journal.hasAttempt(intentId),
  );
}

/**
 * Lists payouts that the sender is still at, and that the journal of payments does not know: it was lost, and the sender's was not.
 *
 * @param context - with the sender
 * @returns intents without an outcome, oldest first
 */
export function listUnknownPayouts(context: RelayerContext): readonly Intent[] {
  const known = liveBy.get(context) ?? findUnknown(context);
  const live = known.filter(({ intentId }) => isLive(context.sender, intentId));
  liveBy.set(context, live);
  return live;
}
