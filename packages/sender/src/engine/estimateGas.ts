import { setTimeout as pause } from 'node:timers/promises';
import { RpcAnswerError, readRevert } from '@prism-gateway/rpc';
import { classifyRefusal } from '../chain/classifyRefusal.ts';
import type { LiveIntent } from '../intents/liveIntent.ts';
import { SenderError } from '../senderError.ts';
import type { Engine } from './engine.ts';
import { retryPause } from './retryPause.ts';

/** Beside a revert: what the common nodes say of calls that cannot succeed with whatever gas. */
const HOPELESS = /invalid opcode|out of gas|gas required exceeds|always failing|bad instruction|stack underflow/i;

/** @returns why the call cannot be sent, or undefined where the node said nothing of the kind */
function readRefusal(error: unknown): SenderError | undefined {
  if (!(error instanceof RpcAnswerError)) return undefined;
  if (classifyRefusal(error) === 'funds') {
    return new SenderError('INSUFFICIENT_FUNDS', 'The account cannot pay for the call; fund the account.', {
      cause: error,
    });
  }
  const revert = readRevert(error);
  if (revert === undefined && !HOPELESS.test(error.message)) return undefined;
  const message = `The call would revert: ${error.message}; nothing was sent.`;
  return new SenderError('CALL_REVERTED', message, { cause: error, data: revert?.reverted });
}

/**
 * Asks the node how much gas an intent's call takes, and adds the margin.
 *
 * @param engine - with node and settings
 * @param intent - whose call it is
 * @returns the gas limit
 * @throws SenderError `CALL_REVERTED`, `INSUFFICIENT_FUNDS`, `RPC_UNAVAILABLE`, `CLOSED`
 */
export async function estimateGas(engine: Engine, intent: LiveIntent): Promise<bigint> {
  const { gasMarginPercent, pollIntervalMs, rpcPatienceMs } = engine.settings;
  const sinceMs = engine.monotonicNow();
  for (let faults = 1; ; faults++) {
    try {
      const gas = await engine.chain.estimateGas(intent.call);
      return (gas * BigInt(100 + gasMarginPercent) + 99n) / 100n;
    } catch (error) {
      if (engine.isClosed) throw new SenderError('CLOSED', 'The sender was closed.');
      const refusal = readRefusal(error);
      if (refusal !== undefined) throw refusal;
      engine.emit({
        type: 'rpcFault',
        method: 'eth_estimateGas',
        reason: error instanceof Error ? error.message : 'unknown',
      });
      if (engine.monotonicNow() - sinceMs >= rpcPatienceMs) {
        const message = 'The node does not estimate gas; nothing was sent, try again later.';
        throw new SenderError('RPC_UNAVAILABLE', message, { cause: error });
      }
      await pause(retryPause(error, { faults, pollIntervalMs }));
    }
  }
}
