import type { Devnet } from '@prism-gateway/devnet';

export interface AnvilOptions {
  /** Blocks only when `evm_mine` or `anvil_mine` is called; else each transaction has its block at once. */
  readonly isMiningOff?: boolean;
  /** Gas limit of a block; a chain with another one has another first block. */
  readonly gasLimit?: number;
}

/** A running chain of its own, without any contracts. */
export interface Anvil extends Devnet {
  /** Makes a JSON-RPC call. @throws Error for an error of the node */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
}

function createRpc(rpcUrl: string): Anvil['rpc'] {
  return async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    // Anvil's answers have this form.
    const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
}

/**
 * Starts the devnet without contracts, and with a way to make any call.
 *
 * @throws AnvilStartError
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  // It brings viem and the contracts, which most tests do without.
  const { startDevnet } = await import('@prism-gateway/devnet');
  const devnet = await startDevnet(options);
  return { ...devnet, rpc: createRpc(devnet.rpcUrl) };
}
