import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(262_144);
let left = 0;

/** Takes random bytes from a pool: seven calls of the system's source for each request would be load of the load's own. */
function randomBytes(bytes: number): Buffer {
  if (left < bytes) left = randomFillSync(pool).length;
  left -= bytes;
  return pool.subarray(left, left + bytes);
}

/** Random bytes in hexadecimal digits, at most 262,144 bytes. */
export const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/** Chain name of all requests of the bench that do not say otherwise. */
export const CHAIN_NAME = 'eip155:31337';
/** Bytes of the params of a usual request: its payload is an encrypted line or two. */
const USUAL_BYTES = 700;

/** Params of WRITE_DATA_FOR. */
export interface WriteDataParams {
  readonly signer: string;
  readonly payload: string;
  readonly [field: string]: string | number;
}

/**
 * Makes params of WRITE_DATA_FOR of a given weight: everything that is random in a real request is random here, so that it cannot
 * be compressed any better. The gateway does not check the signature, so that it is none.
 *
 * @param bytes - of the params as JSON, 500 or more
 * @param signer - address of the user
 * @returns the params; one byte less if the number is odd
 */
export function createParams(bytes = USUAL_BYTES, signer: string = hex(20)): WriteDataParams {
  const params = {
    cloudId: hex(32),
    dataId: hex(32),
    payload: '0x',
    relayerFee: `${10n ** 16n + BigInt(randomBytes(4).readUInt32BE())}`,
    timestamp: String(Math.floor(Date.now() / 1000)),
    signer,
    v: 27,
    r: hex(32),
    s: hex(32),
  };
  const payloadBytes = Math.floor((bytes - JSON.stringify(params).length) / 2);
  return { ...params, payload: hex(payloadBytes) };
}

/** Makes a body of `POST /requests`, different each time. */
export function createBody({ chainName = CHAIN_NAME, params = createParams() } = {}): object {
  return { chainName, action: 'WRITE_DATA_FOR', params };
}
