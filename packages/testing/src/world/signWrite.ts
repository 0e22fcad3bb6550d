import type { Deployment } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import type { PrismUser } from './createPrisms.ts';

/** A write to sign. */
export interface WriteWish {
  readonly dataId: Hex;
  readonly payload: Hex;
  /** Credits in base units. */
  readonly relayerFee: bigint;
  /** The user's forwarder nonce. */
  readonly nonce: bigint;
  /** Unix time in seconds. */
  readonly timestamp: bigint;
}

/**
 * Signs a write into the user's own prism.
 *
 * @returns the params of a WRITE_DATA_FOR
 */
export async function signWrite(
  { chainId, forwarder }: Pick<Deployment, 'chainId' | 'forwarder'>,
  { account, cloudId }: PrismUser,
  { dataId, payload, relayerFee, nonce, timestamp }: WriteWish,
): Promise<ActionParams<'WRITE_DATA_FOR'>> {
  const action = 'WRITE_DATA_FOR';
  const params = { cloudId, dataId, payload, relayerFee: String(relayerFee), timestamp: String(timestamp) };
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return createSignedParams({ action, params, signer: account.address, signature });
}
