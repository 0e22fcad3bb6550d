/** A JSON-RPC call on its way to the node. */
export interface RpcCall {
  readonly jsonrpc: '2.0';
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A fault of a JSON-RPC call. In a batch, a fault of the line is one of the whole batch. */
export type RpcFault =
  /** The line is cut; the node has not seen the call. */
  | { readonly kind: 'dropBefore' }
  /** The node has done it; the line is cut instead of an answer. */
  | { readonly kind: 'dropAfter' }
  /** Nothing is done, and no answer ever comes. */
  | { readonly kind: 'stallBefore' }
  /** All is done, and no answer ever comes. */
  | { readonly kind: 'stallAfter' }
  /** All is done; the answer comes late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** HTTP 429; nothing is done. */
  | { readonly kind: 'rateLimit'; readonly retryAfterSeconds?: number }
  /** HTTP 500; nothing is done. */
  | { readonly kind: 'serverError' }
  /** All is done; HTTP 500. */
  | { readonly kind: 'serverErrorAfter' }
  /** All is done; the answer is no JSON. */
  | { readonly kind: 'garbage' }
  /** All is done; the answer bears another call's id. */
  | { readonly kind: 'wrongId' }
  /** Nothing is done; the node says this error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** Nothing is done; this is the result. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /** All is done; the result becomes another. */
  | { readonly kind: 'change'; readonly change: (result: unknown) => unknown }
  /** The node is `blocks` behind: head, account nonces, balances and receipts are those of then. */
  | { readonly kind: 'lag'; readonly blocks: number };

/** Calls the node, for faults that must know more. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

function toQuantity(value: bigint): string {
  return `0x${(value < 0n ? 0n : value).toString(16)}`;
}

/** `latest` and `pending` of a node that is `blocks` behind. */
async function staleHead(ask: AskNode, blocks: number): Promise<bigint> {
  const head = BigInt(`${await ask('eth_blockNumber', [])}`);
  return head > BigInt(blocks) ? head - BigInt(blocks) : 0n;
}

/**
 * Answers a call as a node would that is some blocks behind.
 *
 * @param call - reads are answered from the past, all else goes to the node
 * @param lag - how far, and the node
 * @returns the result
 */
export async function answerLate(
  call: RpcCall,
  lag: { readonly blocks: number; readonly ask: AskNode },
): Promise<unknown> {
  const { method, params = [] } = call;
  const head = await staleHead(lag.ask, lag.blocks);
  if (method === 'eth_blockNumber') return toQuantity(head);
  if (method === 'eth_getTransactionReceipt') {
    const receipt = await lag.ask(method, params);
    const blockNumber =
      typeof receipt === 'object' && receipt !== null && 'blockNumber' in receipt ? receipt.blockNumber : undefined;
    return blockNumber !== undefined && BigInt(`${blockNumber}`) > head ? null : receipt;
  }
  const stale = params.map((param) => (param === 'latest' || param === 'pending' ? toQuantity(head) : param));
  return await lag.ask(method, stale);
}
