import { randomBytes } from 'node:crypto';
import type { KeyPair } from '../signing/createKeyPair.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { writeRelayerCall } from '../signing/writeRelayerCall.ts';
import { readRequestId } from './readRequestId.ts';
import type { Lane } from './runLanes.ts';

/** What a lane of lives in batches works with. */
export interface BatchLaneParams {
  readonly crypto: SigningCrypto;
  /** Claims and reports what this lane creates. */
  readonly relayer: KeyPair;
  /** Requests of one call that claims or reports. */
  readonly batchSize: number;
  /** Gives the next prepared creation, or undefined at the end. */
  readonly takeCreate: () => Buffer | undefined;
  /** A life is over; it took so many milliseconds. */
  readonly onLife: (elapsedMs: number) => void;
}

const reportOf = (requestId: string) =>
  `{"requestId":"${requestId}","status":"success","txHash":"0x${randomBytes(32).toString('hex')}"}`;

/** @throws Error where an answer does not hold all that was asked for: a life that was not led is none */
function expectAll(count: number, body: Buffer): void {
  if (body.includes(`"count":${count},"conflicts":[]`)) return;
  throw new Error(`Not all ${count} moved: ${body.toString('utf8').slice(-200)}`);
}

/**
 * Makes a lane that creates requests one by one, claims them by one call and reports on them by another:
 *
 *     create --201--> … create --201--> claim all --200--> report on all --200--> create …
 *
 * @param params crypto, relayer, creations
 * @returns the lane
 */
export function createBatchLane(params: BatchLaneParams): Lane {
  const { crypto, relayer, batchSize, takeCreate, onLife } = params;
  let step: 'creating' | 'claiming' | 'reporting' = 'creating';
  let requestIds: string[] = [];
  let births: number[] = [];

  const post = (path: string, body: string) => writeRelayerCall(crypto, { relayer, method: 'POST', path, body });
  function create(): Buffer | undefined {
    const call = requestIds.length === batchSize ? undefined : takeCreate();
    if (call !== undefined) births.push(performance.now());
    return call;
  }
  function claim(): Buffer | undefined {
    if (requestIds.length === 0) return undefined;
    step = 'claiming';
    return post('/requests/claims', JSON.stringify({ requestIds }));
  }
  function finish(): void {
    for (const bornAt of births) onLife(performance.now() - bornAt);
    [requestIds, births, step] = [[], [], 'creating'];
  }

  return {
    begin: create,
    next(_status, answer) {
      if (step === 'creating') {
        requestIds.push(readRequestId(answer));
        return create() ?? claim();
      }
      expectAll(requestIds.length, answer);
      if (step === 'claiming') {
        step = 'reporting';
        return post('/requests/reports', `{"reports":[${requestIds.map(reportOf).join(',')}]}`);
      }
      finish();
      return create();
    },
  };
}
