import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import { hashRequest, type TypedDataSource } from '@prism-gateway/protocol/typed-data';
import { type Hex, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';
import type { DemoWorld } from '../startDemoWorld.ts';
import type { Submitted } from '../submitPlan.ts';

/** One request as the gateway and the chain show it. */
export interface Execution {
  readonly submitted: Submitted;
  /** Undefined if the gateway does not know it. */
  readonly record: RequestRecord | undefined;
  /** Of the transaction that the relayer has reported. */
  readonly receipt: TransactionReceipt | undefined;
  /** The Forwarder's events of this request's signatures. */
  readonly events: readonly RequestExecuted[];
  /** Requests that the transaction carried; each has used its part of the gas. */
  readonly carried: number;
  /** In gas units, its part. */
  readonly gas: bigint;
}

async function readMined({ chain, world }: DemoWorld, hash: Hex) {
  try {
    const receipt = await chain.getTransactionReceipt({ hash });
    return { receipt, events: readRequestExecuted({ logs: receipt.logs, forwarder: world.deployment.forwarder }) };
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  }
}

/** The digests that a request's signatures are over: its own, or one an entry of a multi-user batch. */
function digestsOf({ world }: DemoWorld, record: RequestRecord, { parts }: Submitted): readonly Hex[] {
  const { chainId, forwarder } = world.deployment;
  // Action and params go together in a record, and only a batch has more than one part.
  const { requests } = record.params as Partial<ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>>;
  return parts.map(({ nonce }, index) => {
    const own = requests === undefined ? record : { action: 'WRITE_DATA_FOR', params: requests[index] };
    return hashRequest({ chainId, forwarder, action: own.action, params: own.params, nonce } as TypedDataSource);
  });
}

/**
 * Looks up on the chain what became of each request.
 *
 * @param demo - whose chain
 * @param source - what was submitted, and what the gateway has of it
 */
export async function readExecutions(
  demo: DemoWorld,
  source: { readonly submitted: readonly Submitted[]; readonly records: ReadonlyMap<string, RequestRecord> },
): Promise<readonly Execution[]> {
  const found = source.submitted.map((submitted) => ({ submitted, record: source.records.get(submitted.requestId) }));
  // The gateway's schema has seen that it is hex.
  const hashOf = (record: RequestRecord | undefined) => record?.txHash?.toLowerCase() as Hex | undefined;
  const byHash = Map.groupBy(found, ({ record }) => hashOf(record));
  const hashes = [...byHash.keys()].filter((hash) => hash !== undefined);
  const mined = new Map(await Promise.all(hashes.map(async (hash) => [hash, await readMined(demo, hash)] as const)));
  return found.map(({ submitted, record }): Execution => {
    const hash = hashOf(record);
    const { receipt, events = [] } = (hash && mined.get(hash)) ?? {};
    const digests = record === undefined ? [] : digestsOf(demo, record, submitted);
    const carried = byHash.get(hash)?.length ?? 1;
    const gas = (receipt?.gasUsed ?? 0n) / BigInt(carried);
    return {
      submitted,
      record,
      receipt,
      events: events.filter(({ digest }) => digests.includes(digest)),
      carried,
      gas,
    };
  });
}
