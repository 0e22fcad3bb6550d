import type { ActionParams } from '@prism-gateway/protocol';
import { signWrite, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';

/** Bytes of a payload. */
const PAYLOAD = `0x${'5a'.repeat(20)}` as const;
/** Credits that pay for a single write at the devnet's price of gas. */
const FEE = 3000n * 10n ** 18n;

/**
 * Signs a write of each of the first users, into its own prism.
 *
 * @param world - chain and users
 * @param writes.nonce - the users' forwarder nonce, which also names the entry
 */
export async function signWrites(
  world: World,
  writes: { readonly count: number; readonly nonce: bigint },
): Promise<ActionParams<'WRITE_DATA_FOR'>[]> {
  const { nonce, count } = writes;
  // A little old, so that the priority window is open for the newest block, too.
  const timestamp = BigInt(Math.floor(Date.now() / 1000)) - 5n;
  const wish = { dataId: numberToHex(nonce, { size: 32 }), payload: PAYLOAD, relayerFee: FEE, nonce, timestamp };
  const signed: ActionParams<'WRITE_DATA_FOR'>[] = [];
  for (const user of world.users.slice(0, count)) signed.push(await signWrite(world.deployment, user, wish));
  return signed;
}
