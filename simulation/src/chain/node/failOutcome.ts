import { type Outcome, toHex } from '../evm/createExecutor.ts';
import { failReverted, failServer, type RpcFailure } from '../RpcFailure.ts';

export const isRevert = ({ failure }: Outcome) => failure === 'revert';

/** The failure of a call, in geth's words. */
export function failOutcome(outcome: Outcome): RpcFailure {
  if (isRevert(outcome)) return failReverted(toHex(outcome.returned));
  return failServer(outcome.failure === 'invalid opcode' ? 'invalid opcode: INVALID' : `${outcome.failure}`);
}
