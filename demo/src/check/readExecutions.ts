import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import { type ForwarderLocation, hashRequest, type TypedDataSource } from '@prism-gateway/protocol/typed-data';
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

/** The digests that a request's signatures are over: its own, or one an entry of a multi-user batch. */
function digestsOf(location: ForwarderLocation, record: RequestRecord, parts: readonly SignedPart[]): readonly Hex[] {
  // Action and params go together in a record, and only a batch has more than one part.
  const { requests } = record.params as Partial<ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>>;
  return parts.map(({ nonce }, index) => {
    const own = requests === undefined ? record : { action: 'WRITE_DATA_FOR', params: requests[index] };
    return hashRequest({ ...location, action: own.action, params: own.params, nonce } as TypedDataSource);
  });
}

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
  const location = { chainId: await world.chain.getChainId(), forwarder: world.deployment.forwarder };
  const mined = new Map(await Promise.all(hashes.map(async (hash) => [hash, await readMined(world, hash)] as const)));
  return found.map(({ submitted, record }): Execution => {
    const hash = hashOf(record);
    const { receipt, events = [] } = (hash && mined.get(hash)) ?? {};
    const digests = record === undefined ? [] : digestsOf(location, record, submitted.parts);
    const carried = byHash.get(hash)?.length ?? 1;
    return {
      submitted,
      record,
      receipt,
      events: events.filter(({ digest }) => digests.includes(digest)),
      carried,
      gas: (receipt?.gasUsed ?? 0n) / BigInt(carried),
    };
  });
}
