import { forwarderAbi, readRequestExecuted } from '@prism-gateway/contracts';
import { type Hex, parseEventLogs } from 'viem';
import type { Chain } from '../chain/index.ts';

/** The chain's result for a request's digest. */
export interface Execution {
  readonly txHash: string;
  readonly blockNumber: number;
  readonly relayer: string;
}

/** Keeps what the Forwarder says of each digest, in the chain as it is, and which a reorganisation has ever undone. */
export function followExecutions(chain: Chain, forwarder: string) {
  const undone = new Set<Hex>();
  const refreed = new Set<string>();
  const executions = new Map<Hex, Execution[]>();
  const uses = new Map<string, Set<string>>();
  function recordUse({ signer, nonce }: { signer: string; nonce: bigint }, by: string): void {
    const key = `${signer.toLowerCase()} ${nonce}`;
    uses.set(key, (uses.get(key) ?? new Set()).add(by));
  }
  chain.onBlock(({ kind, block }) => {
    for (const { hash, logs } of block.transactions) {
      // As viem has logs.
      const source = { logs: logs.map((log) => ({ ...log })) as never, forwarder };
      const takenBack = { abi: forwarderAbi, eventName: 'NonceInvalidated', logs: source.logs } as const;
      for (const { args } of parseEventLogs(takenBack)) {
        recordUse(args, 'takenBack');
        if (kind !== 'added') refreed.add(args.signer.toLowerCase());
      }
      for (const { digest, success, relayer, signer, nonce } of readRequestExecuted(source)) {
        if (!success) continue;
        recordUse({ signer, nonce }, digest);
        const known = executions.get(digest) ?? [];
        if (kind === 'added') known.push({ txHash: hash, blockNumber: block.number, relayer });
        else {
          const at = known.findIndex(({ txHash }) => txHash === hash);
          known.splice(at, 1);
          undone.add(digest).add(hash);
        }
        executions.set(digest, known);
      }
    }
  });
  return { executions, uses, undone, refreed };
}
