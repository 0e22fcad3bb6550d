import { createKeyPair } from '../signing/createKeyPair.ts';
import { createUnsignedBodyMaker } from '../signing/createUnsignedBodyMaker.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import type { LoadResult } from './loadResult.ts';
import { type Lane, runLanes } from './runLanes.ts';
import { writeHttp } from './writeHttp.ts';

/** Users whose requests lie in the backlog. */
const signerCount = 1000;

/** How many requests to put into the backlog. */
export interface FillRun {
  readonly port: number;
  readonly connections: number;
  readonly count: number;
  /** Absent: that of all other requests of the bench. */
  readonly chainName?: string;
}

/**
 * Fills a gateway's backlog over HTTP, as its users would, with bodies made on the way.
 *
 * @param crypto the curve and the hash
 * @param run how many
 * @returns what was seen
 */
export function runFill(crypto: SigningCrypto, run: FillRun): Promise<LoadResult> {
  const signers = Array.from({ length: signerCount }, () => createKeyPair(crypto));
  const makeBody = createUnsignedBodyMaker(run.chainName);
  let made = 0;
  const take = () => {
    if (made === run.count) return undefined;
    // `made % signerCount` is an index of the list.
    const body = makeBody(signers[made % signerCount]!, made);
    made += 1;
    return writeHttp({ method: 'POST', target: '/requests', body });
  };
  const lane: Lane = { begin: take, next: take };
  return runLanes({
    port: run.port,
    lanes: Array.from({ length: run.connections }, () => lane),
    keepBody: false,
    expects: (status) => status === 201,
    maxAnswers: run.count,
  });
}
