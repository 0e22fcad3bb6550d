import { isGatewayError } from '@prism-gateway/sdk';
import type { Verdict } from '../checks/verdict.ts';
import { createGapQuestion, type GapPorts } from './giveUpBlocked.ts';

/** Whether the turn of a claimed request may still come. @param verdict - found a moment ago */
export type TurnPatience = (verdict: Verdict | undefined) => Promise<boolean>;

/**
 * Makes the question whether the turn of a claimed request may still come: the request that goes before it is open, maybe in a transaction
 * of this very relayer, or was a moment ago. The chain was read before the gateway: what had that nonce may have ended in between, and
 * only the next look tells.
 *
 * @param ports - the gateway, and how signers are recovered
 */
export function createTurnPatience(ports: GapPorts): TurnPatience {
  let missing: bigint | undefined;
  return async function mayStillCome(verdict) {
    if (verdict?.kind !== 'leave' || verdict.gap === undefined) return false;
    const { nonce } = verdict.gap;
    try {
      if (await createGapQuestion(ports)(verdict.gap)) {
        missing = undefined;
        return true;
      }
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      return true;
    }
    const isNew = missing !== nonce;
    missing = nonce;
    return isNew;
  };
}
