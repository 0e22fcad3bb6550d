import type { ActionParams } from '../requests/create.ts';

/** One entry of a multi-user batch: the signed params of a `WRITE_DATA_FOR`. */
export type WriteEntry = ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>['requests'][number];

const zero = `0x${/* @__PURE__ */ '0'.repeat(64)}`;

/**
 * Gathers writes that users have signed one by one into the params of one `BATCH_MULTI_USER_WRITE_DATA`.
 *
 * Only the entries' own signatures are checked on-chain. The batch itself has no struct and so no signature: its `v`, `r`
 * and `s` are zero, its `relayerFee` is what the entries pay together, and `signer` says who queued it.
 *
 * @param batch.signer - address of whoever queues the batch
 * @param batch.timestamp - Unix time in seconds, as a decimal string
 * @see docs/specification.md PARAM-12
 */
export function createMultiUserBatchParams(batch: {
  readonly signer: string;
  readonly timestamp: string;
  readonly requests: readonly WriteEntry[];
}): ActionParams<'BATCH_MULTI_USER_WRITE_DATA'> {
  const { signer, timestamp, requests } = batch;
  const relayerFee = requests.reduce((sum, entry) => sum + BigInt(entry.relayerFee), 0n);
  return { requests: [...requests], relayerFee: String(relayerFee), timestamp, signer, v: 0, r: zero, s: zero };
}
