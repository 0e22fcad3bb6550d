import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex, TransactionReceipt } from 'viem';
import { TransactionReceiptNotFoundError } from 'viem';
import type { SignedPart, Submitted } from '../users/submitted.ts';
import type { World } from '../world/startWorld.ts';
import type { Execution } from './execution.ts';

interface Mined {
  readonly receipt: TransactionReceipt;
  readonly events: readonly RequestExecuted[];
}

async function readMined({ chain, deployment }: World, hash: Hex): Promise<Mined | undefined> {
  try {
    const receipt = await chain.getTransactionReceipt({ hash });
    return { receipt, events: readRequestExecuted({ logs: receipt.logs, forwarder: deployment.forwarder }) };
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  }
}

const isOf = ({ signer, nonce }: SignedPart) => {
  return (event: RequestExecuted) => event.signer === signer && event.nonce === nonce;
};

/**
 * Looks up on the chain what became of each request.
 *
 * @param world - whose chain
 * @param source.submitted - what was submitted
 * @param source.records - what the gateway has of it
 */
export async function readExecutions(
  world: World,
  source: { readonly submitted: readonly Submitted[]; readonly records: ReadonlyMap<string, RequestRecord> },
): Promise<readonly Execution[]> {
  const found = source.submitted.map((submitted) => ({ submitted, record: source.records.get(submitted.requestId) }));
  // The gateway's schema has seen that it is hex.
  const hashOf = (record: RequestRecord | undefined) => record?.txHash?.toLowerCase() as Hex | undefined;
  const byHash = Map.groupBy(found, ({ record }) => hashOf(record));
  const hashes = [...byHash.keys()].filter((hash) => hash !== undefined);
  const mined = new Map(await Promise.all(hashes.map(async (hash) => [hash, await readMined(world, hash)] as const)));
  return found.map(({ submitted, record }): Execution => {
    const hash = hashOf(record);
    const { receipt, events = [] } = (hash && mined.get(hash)) ?? {};
    const carried = byHash.get(hash)?.length ?? 1;
    return {
      submitted,
      record,
      receipt,
      events: submitted.parts.flatMap((part) => events.filter(isOf(part))),
      carried,
      gas: (receipt?.gasUsed ?? 0n) / BigInt(carried),
    };
  });
}
