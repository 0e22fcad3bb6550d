import { forwarderAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';

/** A viem public client, or an EIP-1193 provider: whatever makes JSON-RPC calls. */
export interface NodeClient {
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/** A node's error: the revert's return data, if it is one. */
export interface NodeRefusal {
  readonly code: number;
  readonly data: string | undefined;
}

/** viem wraps a node's error some layers deep. */
const MAX_LAYERS = 8;

/**
 * Finds the node's own error among the layers that a client wraps round it.
 *
 * @returns undefined if the node has answered nothing
 */
export function readRefusal(error: unknown): NodeRefusal | undefined {
  let found: NodeRefusal | undefined;
  let layer = error;
  for (let depth = 0; depth < MAX_LAYERS && layer instanceof Error; depth++) {
    const { code, data } = layer as { readonly code?: unknown; readonly data?: unknown };
    // viem's `-1` says that it does not know the code; the layer below does.
    if (typeof code === 'number' && code !== -1) {
      found = { code, data: typeof data === 'string' ? data : found?.data };
    }
    layer = layer.cause;
  }
  return found;
}

/**
 * Reads a quantity of JSON-RPC, or the first word of return data.
 *
 * @throws FeeQuoteError NODE_ANSWER
 */
export function readNumber(answer: unknown): bigint {
  if (typeof answer === 'string' && /^0x[0-9a-f]+$/i.test(answer)) return BigInt(answer.slice(0, 66));
  throw new FeeQuoteError('NODE_ANSWER');
}

/**
 * Calls a contract on the newest block.
 *
 * @param call.to - its address
 * @returns return data as hex
 */
export function callContract(
  client: NodeClient,
  call: { readonly to: string; readonly data: string },
): Promise<unknown> {
  return client.request({ method: 'eth_call', params: [call, 'latest'] });
}

/** Why no fee could be quoted, as a program matches it. */
export type FeeQuoteErrorCode =
  /** The Forwarder would refuse the action as things stand: `data` holds the error that it reverts with. */
  | 'ACTION_REVERTS'
  /** The node's answer is not what the method gives. */
  | 'NODE_ANSWER';

const sentences: Readonly<Record<FeeQuoteErrorCode, string>> = {
  ACTION_REVERTS: 'The Forwarder would refuse this action as things stand; no fee helps it.',
  NODE_ANSWER: "The node's answer cannot be read; ask another one.",
};

/** Longest text of an error in a sentence, in characters. */
const MAX_ERROR = 300;

/** Names the contracts' error that a call reverts with, and its arguments: `InsufficientPrismBalance(0x…, 12, 500)`. @returns other data as they are */
function describeRevert(data: string): string {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: forwarderAbi, data: data as Hex });
    return `${errorName}(${args.join(', ')})`;
  } catch {
    return data;
  }
}

/** No fee could be quoted. What the node's client throws goes through. */
export class FeeQuoteError extends Error {
  override readonly name = 'FeeQuoteError';
  readonly code: FeeQuoteErrorCode;
  /** The Forwarder's error, ABI-encoded, if the node gives it. */
  readonly data: string | undefined;

  constructor(code: FeeQuoteErrorCode, { data, cause }: { readonly data?: string; readonly cause?: unknown } = {}) {
    super(sentences[code] + (data ? ` It reverts: ${describeRevert(data).slice(0, MAX_ERROR)}` : ''), { cause });
    this.code = code;
    this.data = data;
  }
}
