/** Signs requests and posts them, and keeps their stories. */

import {
  createSignedParams,
  createTypedData,
  hashRequest,
  type SignedAction,
  type UnsignedParams,
} from '@prism-gateway/protocol/typed-data';
import type { PrismUser } from '@prism-gateway/testing/world';
import type { Hex } from 'viem';

import { CHAIN_ID, CHAIN_NAME, CREDITS_PER_ETH, type World } from './createWorld.ts';
import { type Expectation, type SignedEntry, type Story, UNKNOWN } from './story.ts';

/** Gas of a write that comes alone, with room to spare. */
export const WRITE_GAS = 130_000n;

/** A user's wish before it is signed. */
export interface Wish<A extends SignedAction> {
  readonly user: PrismUser;
  readonly action: A;
  readonly params: Omit<UnsignedParams<A>, 'relayerFee' | 'timestamp'>;
  readonly nonce: bigint;
  readonly kind: string;
  readonly expects: Expectation;
  /** Its gas, with room to spare; default that of a write. */
  readonly gas?: bigint;
  /** Of what the market asks, in percent; default 300. */
  readonly feePercent?: number;
  /** Whose signature is put under it; default the user's own. */
  readonly signedBy?: PrismUser;
}

/** The price of a request at the price of gas now, in credits. */
export const marketFee = (world: Pick<World, 'gasPrice'>, gas: bigint): bigint =>
  gas * world.gasPrice() * CREDITS_PER_ETH;

/** Signs a request. @returns what `POST /requests` takes, its digest, and its fee */
export async function signRequest<A extends SignedAction>(world: World, wish: Wish<A>) {
  const { user, action, nonce, gas = WRITE_GAS, feePercent = 300, signedBy = user } = wish;
  const fee = (gas * (await world.quoteGasPrice()) * CREDITS_PER_ETH * BigInt(feePercent)) / 100n;
  const timestamp = String(Math.floor(world.realm.clock.now() / 1000));
  // Wishes name all other fields of their action's params.
  const params = { ...wish.params, relayerFee: String(fee), timestamp } as unknown as UnsignedParams<A>;
  const source = { action, params, nonce, chainId: CHAIN_ID, forwarder: world.deployment.forwarder };
  const signature = await signedBy.account.signTypedData(createTypedData(source) as never);
  const signed = createSignedParams({ action, params, signer: user.account.address, signature });
  return { body: { chainName: CHAIN_NAME, action, params: signed }, digest: hashRequest(source), fee };
}

type Signed = Awaited<ReturnType<typeof signRequest>>;

/** Posts, and once more if an older copy of the gateway was put back before the answer came. */
export async function submitBody({ client, restores }: World, body: Story['body']): Promise<string> {
  for (;;) {
    const { count } = restores;
    const { requestId } = await client.submitRequest(body);
    if (count === restores.count) return requestId;
  }
}

/** Begins the story of a request that was posted. */
export const newStory = (posted: Pick<Story, Exclude<keyof Story, keyof typeof UNKNOWN>>): Story => ({
  ...posted,
  ...UNKNOWN,
});

/** Posts what was signed, and begins its story. */
export async function postSigned(
  world: World,
  signed: { readonly body: unknown; readonly entries?: readonly SignedEntry[] } & Omit<Signed, 'body'>,
  {
    user,
    nonce,
    kind,
    expects,
    gas = WRITE_GAS,
    cloudId,
  }: Pick<Wish<SignedAction>, 'user' | 'nonce' | 'kind' | 'expects' | 'gas'> & { readonly cloudId?: Hex | undefined },
): Promise<Story> {
  const { stories, realm } = world;
  const { digest, entries, fee } = signed;
  const body = signed.body as Story['body'];
  const requestId = await submitBody(world, body);
  const story = newStory({
    ...{ requestId, body, kind, signer: user.account.address, digest, nonce, cloudId, fee, gas, expects },
    ...(entries && { entries }),
    postedAtMs: realm.clock.now(),
  });
  stories.set(requestId, story);
  realm.log.add({
    kind: 'actor',
    who: `user ${user.account.address}`,
    text: `posts ${kind}, nonce ${nonce}, fee ${fee / 10n ** 18n} credits`,
    about: [requestId],
  });
  return story;
}

/** Signs and posts a request. */
export async function postRequest<A extends SignedAction>(world: World, wish: Wish<A>): Promise<Story> {
  const { cloudId } = wish.params as { readonly cloudId?: Hex };
  return await postSigned(world, await signRequest(world, wish), { ...wish, cloudId });
}
