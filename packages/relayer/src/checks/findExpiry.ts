import type { ChainState } from '../chain/watchChain.ts';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';
import { listSignedParts } from './findNonce.ts';

/** @see findExpiry */
export type FindExpiry = (record: RelayedRecord) => Promise<string | undefined>;

/**
 * Tells whether a request is past the Forwarder's maximal age, whatever else may speak for or against it.
 *
 * @returns the Forwarder's reason; undefined where one of its signatures may still be taken
 * @throws ChainError
 */
export async function findExpiry(
  { state }: { readonly state: Pick<ChainState, 'policy' | 'seconds'> },
  record: RelayedRecord,
): Promise<string | undefined> {
  const [{ maxAge }, seconds] = await Promise.all([state.policy(), state.seconds()]);
  const ends = listSignedParts(record).map(({ params }) => BigInt(params.timestamp) + maxAge);
  return ends.every((end) => end < seconds) ? `RequestExpired(${ends[0]})` : undefined;
}
