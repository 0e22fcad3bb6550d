import type { StackPart } from '../stack/createGatewayApp.ts';
import type { StackControl, StackState } from './stackControl.ts';

/** A stack is in a state from which this command does not know a way. */
export class StackStuckError extends Error {
  override readonly name = 'StackStuckError';
  readonly code = 'STACK_STUCK';

  constructor(part: StackPart, status: string) {
    const advice = status.endsWith('_IN_PROGRESS')
      ? 'Somebody else is at work on it: wait until they are done'
      : "See the stack's events for the resource that it is stuck at";
    super(`The stack ${part} is in ${status}. ${advice}, then run this command again.`);
  }
}

/** Nothing was ever complete in these; what they made is gone, empty, or kept by its own policy. */
const NEVER_COMPLETE = new Set(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED']);
const KNOWN_NONCE = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
]);

/**
 * Brings a stack that an earlier attempt has left half-way to a state that can be deployed to: one that never came into being is
 * deleted, protection or not, and a roll-back that got stuck is continued.
 *
 * @returns its state; undefined if there is none now
 * @throws StackStuckError (`STACK_STUCK`)
 */
export async function repairStack(control: StackControl, part: StackPart): Promise<StackState | undefined> {
  const state = await control.describe(part);
  // A change set that was never run: the next one takes its place.
  if (state === undefined || KNOWN_NONCE.has(state.status) || state.status === 'REVIEW_IN_PROGRESS') {
    return state?.status === 'REVIEW_IN_PROGRESS' ? undefined : state;
  }
  if (NEVER_COMPLETE.has(state.status)) {
    if (state.isProtected) await control.unprotect(part);
    await control.delete(part);
  } else if (state.status === 'UPDATE_ROLLBACK_FAILED') {
    await control.continueRollback(part);
  }
  const mended = await control.describe(part);
  if (mended !== undefined && !KNOWN_NONCE.has(mended.status)) throw new StackStuckError(part, mended.status);
  return mended;
}
