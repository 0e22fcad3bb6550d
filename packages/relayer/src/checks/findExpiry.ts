import type { RelayedRecord } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { listSignedParts } from './findNonce.ts';

/**
 * Tells whether a request is past the Forwarder's maximal age, whatever else may speak for or against it.
 *
 * @returns the Forwarder's reason; undefined where one of its signatures may still be taken
 * @throws ChainError
 */
export async function findExpiry({ state }: Pick<Relay, 'state'>, record: RelayedRecord): Promise<string | undefined> {
  const [{ maxAge }, seconds] = await Promise.all([state.policy(), state.seconds()]);
  const ends = listSignedParts(record).map(({ params }) => BigInt(params.timestamp) + maxAge);
  return ends.every((end) => end < seconds) ? `RequestExpired(${ends[0]})` : undefined;
}
