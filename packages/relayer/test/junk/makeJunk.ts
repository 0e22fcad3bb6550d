import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import type { PrismUser, World } from '@prism-gateway/testing/world';
import { signWrite } from '@prism-gateway/testing/world';
import { type Hex, keccak256, numberToHex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A body of `POST /requests`. */
export type PostedBody = Pick<RequestRecord, 'chainName' | 'action' | 'params'>;

const CHAIN_NAME = 'eip155:31337';
const FEE = 3000n * 10n ** 18n;
/** Strangers who sign writes into prisms that do not exist. */
const STRANGERS = 200;
/** The end of time, as the wire has it. */
const LATEST = String(2n ** 256n - 1n);

type Params = ActionParams<'WRITE_DATA_FOR'>;

/** Makes a write with a valid signature. @param payload - also tells it from others */
export async function makeWrite(
  world: Pick<World, 'deployment'>,
  { user, nonce = 1n, payload }: { readonly user: PrismUser; readonly nonce?: bigint; readonly payload: Hex },
): Promise<PostedBody> {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 5);
  const wish = { dataId: numberToHex(nonce, { size: 32 }), payload, relayerFee: FEE, nonce, timestamp };
  const params = await signWrite(world.deployment, user, wish);
  return { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params };
}

/**
 * Makes what strangers may post: free ones, too old and too new ones, bad signatures in a victim's name, copies of one that is valid,
 * and valid signatures of writes that revert.
 *
 * @param world - the chain
 * @param users.victim - in whose name bad signatures are posted
 * @param users.copied - whose valid write is copied
 * @returns a request by its position; half of a kind are in names of their own
 */
export async function makeJunk(
  world: Pick<World, 'deployment'>,
  users: { readonly victim: PrismUser; readonly copied: PrismUser },
): Promise<(position: number) => PostedBody> {
  const valid = await makeWrite(world, { user: users.copied, payload: '0xc0' });
  const strangers = await Promise.all(
    Array.from({ length: STRANGERS }, async (_, index) => {
      const account = privateKeyToAccount(keccak256(toHex(`stranger ${index}`)));
      const user = { account, cloudId: numberToHex(index, { size: 32 }) };
      return await makeWrite(world, { user, nonce: 0n, payload: '0xbad0' });
    }),
  );
  // All of them are writes.
  const params = valid.params as Params;
  const nameOf = (position: number) => `0x${position.toString(16).padStart(40, 'e')}` as const;
  const write = (signer: string, change: Partial<Params>): PostedBody => ({
    ...valid,
    params: { ...params, signer, ...change },
  });
  const victim = users.victim.account.address;
  const kinds: readonly ((position: number) => PostedBody)[] = [
    (position) => write(nameOf(position), { relayerFee: '0', r: keccak256(numberToHex(position)) }),
    (position) => write(nameOf(position), { timestamp: '0', r: keccak256(numberToHex(position)) }),
    (position) => write(nameOf(position), { timestamp: LATEST, r: keccak256(numberToHex(position)) }),
    (position) => write(victim, { payload: numberToHex(position, { size: 32 }), r: keccak256(numberToHex(position)) }),
    () => valid,
    // There are as many as were made.
    (position) => strangers[position % STRANGERS]!,
  ];
  return (position) => kinds[position % kinds.length]!(position);
}
