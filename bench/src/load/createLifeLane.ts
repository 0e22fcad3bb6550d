import { randomBytes } from 'node:crypto';
import type { KeyPair } from '../signing/createKeyPair.ts';
import { hashBody } from '../signing/hashBody.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { signRelayerCall } from '../signing/signRelayerCall.ts';
import { readRequestId } from './readRequestId.ts';
import type { Lane } from './runLanes.ts';
import { writeHttp } from './writeHttp.ts';

const claimBody = '{"status":"processing"}';

/** What a lane of whole lives works with. */
export interface LifeLaneParams {
  readonly crypto: SigningCrypto;
  /** Claims and reports what this lane creates. */
  readonly relayer: KeyPair;
  /** Gives the next prepared creation, or undefined at the end. */
  readonly takeCreate: () => Buffer | undefined;
  /** A life is over; it took so many milliseconds. */
  readonly onLife: (elapsedMs: number) => void;
}

/**
 * Makes a lane that leads one request after another through its whole life:
 *
 *     create --201--> claim --200--> report --200--> next create
 *
 * What a claim and a report sign is known only once the request has its id, so these two are signed on the way.
 *
 * @param params crypto, relayer, creations
 * @returns the lane
 */
export function createLifeLane(params: LifeLaneParams): Lane {
  const { crypto, relayer, takeCreate, onLife } = params;
  const claimHash = hashBody(crypto.keccak256, claimBody);
  let step: 'created' | 'claimed' | 'reported' = 'reported';
  let target = '';
  let bornAt = 0;

  const patch = (body: string, bodyHash: string) => {
    const call = { method: 'PATCH', path: target, bodyHash, timestampMs: Date.now() } as const;
    return writeHttp({ method: 'PATCH', target, headerLines: signRelayerCall(crypto, { relayer, call }), body });
  };
  const create = () => {
    step = 'created';
    bornAt = performance.now();
    return takeCreate();
  };

  return {
    begin: create,
    next(_status, answer) {
      if (step === 'created') {
        step = 'claimed';
        target = `/requests/${readRequestId(answer)}`;
        return patch(claimBody, claimHash);
      }
      if (step === 'claimed') {
        step = 'reported';
        const body = `{"status":"success","txHash":"0x${randomBytes(32).toString('hex')}"}`;
        return patch(body, hashBody(crypto.keccak256, body));
      }
      onLife(performance.now() - bornAt);
      return create();
    },
  };
}
