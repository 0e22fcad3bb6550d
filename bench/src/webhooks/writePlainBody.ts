import { randomBytes } from 'node:crypto';

const anyHex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/** Makes a body of `POST /requests` with random content; the gateway does not judge its signature. */
export function writeRequestBody(chainName: string): unknown {
  const params = {
    ...{ cloudId: anyHex(32), dataId: anyHex(32), payload: anyHex(40), relayerFee: '10000000000000000' },
    ...{ timestamp: '1767225600', signer: anyHex(20), v: 27, r: anyHex(32), s: anyHex(32) },
  };
  return { chainName, action: 'WRITE_DATA_FOR', params };
}
