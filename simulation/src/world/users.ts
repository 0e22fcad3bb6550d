/** Users: they sign, post, wait, change their minds and make mistakes. */

import { setTimeout as pause } from 'node:timers/promises';
import { forwarderAbi } from '@prism-gateway/contracts';
import type { SignedRequest } from '@prism-gateway/protocol/typed-data';
import { hashRequest } from '@prism-gateway/protocol/typed-data';
import { type PrismUser, signWrite } from '@prism-gateway/testing/world';
import { createWalletClient, encodeFunctionData, type Hex, http, toHex } from 'viem';
import { runAs } from '../core/processes.ts';
import type { Random } from '../core/random.ts';
import { CHAIN_ID, CHAIN_NAME, CREDITS_PER_ETH, inBackground, type World } from './createWorld.ts';
import type { Expectation, Story } from './story.ts';

/** Gas of a write that comes alone, with room to spare. */
const WRITE_GAS = 130_000n;
/** Longest that a user waits for one request before it goes on to other things, in milliseconds. */
const PATIENCE_MS = 40 * 60_000;

interface Write {
  readonly user: PrismUser;
  readonly nonce: bigint;
  readonly kind: string;
  readonly expects: Expectation;
  /** Of what the market asks, in percent; default 300. */
  readonly feePercent?: number;
  /** Whose signature is put under it; default the user's own. */
  readonly signedBy?: PrismUser;
  /** Where to write; default the user's prism. */
  readonly cloudId?: Hex;
}

/** What a write costs at the price of gas now, in credits. */
export function marketFee(world: Pick<World, 'gasPrice'>): bigint {
  return WRITE_GAS * world.gasPrice() * CREDITS_PER_ETH;
}

/** Lives the lives of all users. */
export function startUsers(
  world: World,
  options: { readonly writeEverySeconds: number; readonly kinds: readonly string[] },
): void {
  const { realm, client, deployment, users, stories } = world;
  const random = realm.random.fork('users');
  const busy = new Set<PrismUser>();
  const nonces = new Map<PrismUser, bigint>(users.map((user) => [user, 1n]));
  let writes = 0;

  const nowMs = () => realm.clock.now();
  const nonceOf = (user: PrismUser) => nonces.get(user) ?? 0n;

  async function post({
    user,
    nonce,
    kind,
    expects,
    feePercent = 300,
    signedBy = user,
    cloudId = user.cloudId,
  }: Write): Promise<Story> {
    const relayerFee = (marketFee(world) * BigInt(feePercent)) / 100n;
    const wish = {
      dataId: toHex(++writes, { size: 32 }),
      payload: toHex(random.bytes(random.between(1, 200))),
      relayerFee,
      nonce,
      timestamp: BigInt(Math.floor(nowMs() / 1000)),
    };
    const own = { account: signedBy.account, cloudId };
    const signed = await signWrite(deployment, own, wish);
    const params = { ...signed, signer: user.account.address };
    const body = { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR' as const, params };
    const { requestId } = await client.submitRequest(body);
    const digest = hashRequest({
      ...body,
      nonce,
      chainId: CHAIN_ID,
      forwarder: deployment.forwarder,
    } as unknown as SignedRequest);
    const story: Story = {
      requestId,
      kind,
      signer: user.account.address,
      digest,
      nonce,
      fee: relayerFee,
      postedAtMs: nowMs(),
      expects,
      outlook: undefined,
      status: 'pending',
      claimedBy: undefined,
      txHash: undefined,
      errorMessage: undefined,
      endedAtMs: undefined,
      pendingCalmMs: 0,
      openCalmMs: 0,
    };
    stories.set(requestId, story);
    realm.log.add({
      kind: 'actor',
      who: `user ${users.indexOf(user)}`,
      text: `posts ${kind}, nonce ${nonce}, fee ${relayerFee / 10n ** 18n} credits`,
      about: [requestId],
    });
    return story;
  }

  async function untilEnded(story: Story): Promise<void> {
    const untilMs = nowMs() + PATIENCE_MS;
    while (story.endedAtMs === undefined && nowMs() < untilMs) await pause(5000);
  }

  /** The chain's word on the signer's next nonce; what a user reads before the next signature. */
  async function readNonce(user: PrismUser): Promise<bigint> {
    const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [user.account.address] });
    return BigInt(await world.chain.call({ to: deployment.forwarder, data }));
  }

  const minutes = (from: number, to: number) => pause(random.between(from * 60_000, to * 60_000));

  const lives: Readonly<Record<string, (user: PrismUser) => Promise<void>>> = {
    /** Writes once, and waits. */
    async single(user) {
      await untilEnded(await post({ user, nonce: nonceOf(user), kind: 'single', expects: 'success' }));
    },
    /** Posts what comes later first: the first one is held up by a slow wallet. */
    async pair(user) {
      const nonce = nonceOf(user);
      const later = [
        await post({ user, nonce: nonce + 1n, kind: 'pair', expects: 'success', feePercent: 600 }),
        await post({ user, nonce: nonce + 2n, kind: 'pair', expects: 'success', feePercent: 600 }),
      ];
      await minutes(1, 10);
      const first = await post({ user, nonce, kind: 'pair', expects: 'success', feePercent: 600 });
      for (const story of [first, ...later]) await untilEnded(story);
    },
    /** Sends the same bytes twice, as an impatient page does. */
    async twice(user) {
      const first = await post({ user, nonce: nonceOf(user), kind: 'twice', expects: 'either' });
      await pause(random.between(100, 20_000));
      const again = await post({ user, nonce: nonceOf(user), kind: 'twice', expects: 'either' });
      for (const story of [first, again]) await untilEnded(story);
    },
    /** Offers too little, waits, and signs the same nonce again for more. */
    async raise(user) {
      const nonce = nonceOf(user);
      const low = await post({ user, nonce, kind: 'low fee', expects: 'either', feePercent: 20 });
      await minutes(5, 30);
      if (low.endedAtMs !== undefined) return;
      const raised = await post({ user, nonce, kind: 'raised fee', expects: 'success' });
      await untilEnded(raised);
    },
    /** Signs with a key that is not the signer's. */
    async forged(user) {
      const signedBy = random.pick(users.filter((one) => one !== user));
      await untilEnded(await post({ user, nonce: nonceOf(user), kind: 'forged', expects: 'failed', signedBy }));
    },
    /** Writes into somebody else's prism. */
    async foreign(user) {
      const { cloudId } = random.pick(users.filter((one) => one !== user));
      await untilEnded(await post({ user, nonce: nonceOf(user), kind: 'foreign prism', expects: 'failed', cloudId }));
    },
    /** Signs, and takes it back on the chain. */
    async invalidate(user) {
      const story = await post({ user, nonce: nonceOf(user), kind: 'taken back', expects: 'either' });
      await pause(random.between(0, 30_000));
      const wallet = createWalletClient({
        account: user.account,
        transport: http('http://node-1:8545', { retryCount: 5 }),
      });
      const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'invalidateNonce' });
      await wallet
        .sendTransaction({ account: user.account, to: deployment.forwarder, data, chain: null, gas: 100_000n })
        .catch(() => undefined);
      await untilEnded(story);
      await minutes(1, 2);
    },
  };

  /** A life that fails for want of a gateway is taken up again later. */
  async function live(user: PrismUser, kind: string): Promise<void> {
    busy.add(user);
    try {
      await lives[kind]?.(user);
    } catch (error) {
      realm.log.add({
        kind: 'actor',
        who: `user ${users.indexOf(user)}`,
        text: `gives up: ${error instanceof Error ? error.message : error}`,
      });
      await pause(60_000);
    }
    // What is on its way is over before the next nonce is read.
    const own = [...stories.values()].filter(({ signer }) => signer === user.account.address);
    for (const story of own.slice(-4)) await untilEnded(story);
    nonces.set(user, await readNonce(user));
    busy.delete(user);
  }

  const pickKind = (from: Random) => from.pick(options.kinds);
  const loop = () => {
    const free = users.filter((user) => !busy.has(user));
    if (free.length > 0) {
      const [user, kind] = [random.pick(free), pickKind(random)];
      inBackground(world, () => live(user, kind));
    }
    realm.clock.at(random.between(1, 2 * options.writeEverySeconds * 1000), () => runAs(undefined, loop));
  };
  loop();
}
