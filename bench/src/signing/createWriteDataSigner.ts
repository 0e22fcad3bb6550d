import type { KeyPair } from './createKeyPair.ts';
import type { SigningCrypto } from './loadSigningCrypto.ts';

/** A user's wish to write one entry; hex fields without `0x`, ids of 32 bytes. */
export interface WriteData {
  readonly cloudId: string;
  readonly dataId: string;
  readonly payload: string;
  readonly relayerFee: bigint;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly nonce: number;
}

/** A signature as `params` carries it; `r` and `s` are 64 hex digits without `0x`. */
export interface WriteDataSignature {
  readonly v: number;
  readonly r: string;
  readonly s: string;
}

/** Chain and Forwarder that the bench's requests are for. */
export const forwarderDomain = {
  chainId: 31337,
  verifyingContract: '5fbdb2315678afecb367f032d93f642f64180aa3',
} as const;

const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const writeDataType =
  'WriteData(bytes32 cloudId,bytes32 dataId,bytes payload,uint256 relayerFee,uint256 timestamp,uint256 nonce)';

/** Signs wishes of one signer after another. */
export type WriteDataSigner = (signer: KeyPair, data: WriteData) => WriteDataSignature;

/**
 * Prepares the signing of `WriteData`: what is the same for all of them is hashed once.
 *
 * @param crypto the curve and the hash
 * @returns a function that signs one
 * @see EIP-712
 */
export function createWriteDataSigner(crypto: SigningCrypto): WriteDataSigner {
  const hash = (data: Uint8Array | string) => Buffer.from(crypto.keccak256(data)).toString('hex');
  const domain = [
    hash(domainType),
    hash('Forwarder'),
    hash('1'),
    toWord(forwarderDomain.chainId),
    forwarderDomain.verifyingContract.padStart(64, '0'),
  ];
  const prefix = `1901${hash(Buffer.from(domain.join(''), 'hex'))}`;
  const typeHash = hash(writeDataType);

  return (signer, data) => {
    const payloadHash = hash(Buffer.from(data.payload, 'hex'));
    const struct = `${typeHash}${data.cloudId}${data.dataId}${payloadHash}${toWord(data.relayerFee)}${toWord(data.timestamp)}${toWord(data.nonce)}`;
    const structHash = hash(Buffer.from(struct, 'hex'));
    const digest = crypto.keccak256(Buffer.from(`${prefix}${structHash}`, 'hex'));
    const { hex, recovery } = crypto.signDigest(digest, signer.privateKey);
    return { v: 27 + recovery, r: hex.slice(0, 64), s: hex.slice(64) };
  };
}

/** A number as 32 bytes of hex. */
function toWord(value: number | bigint): string {
  return value.toString(16).padStart(64, '0');
}
