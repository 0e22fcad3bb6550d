import { readRequestExecuted } from '@prism-gateway/contracts';
import { parseArray, parseCount, parseLog, parseRecord } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import type { StoredExecution } from './journal/openSeenChain.ts';

/**
 * Reads the executions that a transaction's own events tell of.
 *
 * @returns none where it is not mined, or nothing of the Forwarder's is in it
 * @throws ChainError
 */
export async function readTold(
  { rpc, forwarder }: { readonly rpc: Pick<ChainRpc, 'read'>; readonly forwarder: Hex },
  txHash: Hex,
): Promise<readonly StoredExecution[]> {
  return await rpc.read(['eth_getTransactionReceipt', txHash], (answer) => {
    if (answer === null) return [];
    const { logs: given, blockNumber } = parseRecord(answer, 'receipt');
    const logs = parseArray(given, 'logs').map((log) => parseLog(log, 'log'));
    const block = BigInt(parseCount(blockNumber, 'block number'));
    const lower = (hex: Hex) => hex.toLowerCase() as Hex;
    return readRequestExecuted({ logs, forwarder })
      .filter(({ success }) => success)
      .map(({ digest, signer, nonce, relayer, logIndex }) => ({
        ...{ txHash, block, nonce, logIndex: logIndex ?? 0, deepSeconds: undefined },
        ...{ digest: lower(digest), signer: lower(signer), relayer: lower(relayer) },
      }));
  });
}
