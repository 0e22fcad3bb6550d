import type { Hex } from 'viem';
import { decodeErrorResult, parseAbi } from 'viem/utils';

/** An error that a node answers with. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  /** JSON-RPC's, or geth's 3 for a revert. */
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** An error for which geth has no code of its own. */
export const failServer = (message: string) => new RpcFailure(-32_000, message);
export const failParams = (message: string) => new RpcFailure(-32_602, message);

const reasons = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)']);
/** As geth writes them. @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const PANICS: Readonly<Record<string, string>> = {
  1: 'assert(false)',
  17: 'arithmetic underflow or overflow',
  18: 'division or modulo by zero',
  33: 'enum overflow',
  34: 'invalid encoded storage byte array accessed',
  49: 'out-of-bounds array access; popping on an empty array',
  50: 'out-of-bounds access of an array or bytesN',
  65: 'out of memory',
  81: 'uninitialized function',
};

/** Selectors of both. */
const REASON = /^0x(08c379a0|4e487b71)/;

function readReason(data: Hex): string | undefined {
  if (!REASON.test(data)) return undefined;
  try {
    const { errorName, args } = decodeErrorResult({ abi: reasons, data });
    return errorName === 'Error' ? args[0] : (PANICS[`${args[0]}`] ?? `unknown panic code: 0x${args[0].toString(16)}`);
  } catch {
    return undefined;
  }
}

/** A revert, as geth says it. */
export function failReverted(data: Hex): RpcFailure {
  const reason = readReason(data);
  return new RpcFailure(3, reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`, data);
}
