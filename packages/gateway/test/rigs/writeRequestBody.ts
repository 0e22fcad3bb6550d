import { randomBytes } from 'node:crypto';
import type { CreateRequestBody } from '@prism-gateway/protocol';

const anyHex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/** Makes a body of `POST /requests` with random content; its signature is no real one, as the service does not check it. */
export function writeRequestBody({ signer = anyHex(20), chainName = 'eip155:31337' } = {}): CreateRequestBody {
  return {
    chainName,
    action: 'WRITE_DATA_FOR',
    params: {
      cloudId: anyHex(32),
      dataId: anyHex(32),
      payload: anyHex(40),
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer,
      v: 27,
      r: anyHex(32),
      s: anyHex(32),
    },
  };
}
