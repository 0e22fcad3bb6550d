/** Users: they sign, post, wait, change their minds and make mistakes. */

import { setTimeout as pause } from 'node:timers/promises';
import { forwarderAbi } from '@prism-gateway/contracts';
import type { PrismUser } from '@prism-gateway/testing/world';
import { createWalletClient, encodeFunctionData, type Hex, http, toHex } from 'viem';
import { runAs } from '../core/processes.ts';
import { inBackground, type World } from './createWorld.ts';
import { createLives } from './lives.ts';
import { postRequest } from './postRequest.ts';
import { readNonce } from './readNonce.ts';
import type { Expectation, Story } from './story.ts';

/** Longest that a user waits for one request before it goes on to other things, in milliseconds. */
const TIMEOUT_MS = 40 * 60_000;

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

/** Lives the lives of all users. */
export function startUsers(
  world: World,
  options: { readonly writeEverySeconds: number; readonly kinds: readonly string[] },
): void {
  const { realm, deployment, users, stories } = world;
  const random = realm.random.fork('users');
  const busy = new Set<PrismUser>();
  // The first one made the prism.
  const nonces = new Map<PrismUser, bigint>();
  let writes = 0;

  const nowMs = () => realm.clock.now();
  const nonceOf = (user: PrismUser) => nonces.get(user) ?? 1n;

  const newDataId = () => toHex(++writes, { size: 32 });

  async function post({ cloudId, ...write }: Write): Promise<Story> {
    const dataId = newDataId();
    const payload = toHex(random.bytes(random.between(1, 200)));
    const params = { cloudId: cloudId ?? write.user.cloudId, dataId, payload };
    return await postRequest(world, { ...write, action: 'WRITE_DATA_FOR', params });
  }

  async function untilEnded(story: Story): Promise<void> {
    const untilMs = nowMs() + TIMEOUT_MS;
    while (story.endedAtMs === undefined && nowMs() < untilMs) await pause(5000);
  }

  const minutes = (from: number, to: number) => pause(random.between(from * 60_000, to * 60_000));

  async function giveBack(user: PrismUser): Promise<void> {
    const own = user.account.address.toLowerCase();
    const untilMs = nowMs() + TIMEOUT_MS;
    // A transaction of the user's own may yet take the nonce.
    while (world.chain.pool.list().some(({ from }) => from === own) && nowMs() < untilMs) await pause(5000);
    nonces.set(user, await readNonce(world, user.account.address));
    busy.delete(user);
  }

  function borrow(): PrismUser | undefined {
    const free = users.filter((user) => !busy.has(user));
    const user = free.length === 0 ? undefined : random.pick(free);
    if (user !== undefined) busy.add(user);
    return user;
  }

  const lives: Readonly<Record<string, (user: PrismUser) => Promise<void>>> = {
    ...createLives({ world, random, newDataId, nonceOf, untilEnded, borrow, giveBack }),
    /** Writes once, and waits. */
    async single(user) {
      await untilEnded(await post({ user, nonce: nonceOf(user), kind: 'single', expects: 'success' }));
    },
    /** Posts what comes later beside a first one that pays too little, and signs that again for more after some minutes. */
    async pair(user) {
      const nonce = nonceOf(user);
      const low = await post({ user, nonce, kind: 'low fee', expects: 'either', feePercent: 20 });
      const later = [
        await post({ user, nonce: nonce + 1n, kind: 'pair', expects: 'success', feePercent: 600 }),
        await post({ user, nonce: nonce + 2n, kind: 'pair', expects: 'success', feePercent: 600 }),
      ];
      await minutes(1, 10);
      // After a spike it may have paid; that it is said to be done may be a lie.
      const isDone = (await readNonce(world, user.account.address)) > nonce;
      const first = isDone ? low : await post({ user, nonce, kind: 'pair', expects: 'success', feePercent: 600 });
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
      const hash = await wallet
        .sendTransaction({ account: user.account, to: deployment.forwarder, data, chain: null, gas: 100_000n })
        .catch(() => undefined);
      await untilEnded(story);
      // While it waits for cheaper gas, it would take back whatever is signed next.
      while (hash !== undefined && world.chain.pool.has(hash)) await pause(12_000);
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
        who: `user ${user.account.address}`,
        text: `gives up: ${error instanceof Error ? error.message : error}`,
      });
      await pause(60_000);
    }
    // Requests on their way have ended before the next nonce is read.
    const own = [...stories.values()].filter(({ signer }) => signer === user.account.address);
    for (const story of own.slice(-4)) await untilEnded(story);
    await giveBack(user);
  }

  const { wallets, turncoats } = world.specials;
  const poolOf = (kind: string) => (kind.startsWith('wallet') ? wallets : kind === 'turncoat' ? turncoats : users);
  const loop = () => {
    const kind = random.pick(options.kinds);
    const free = poolOf(kind).filter((user) => !busy.has(user));
    if (free.length > 0) {
      const user = random.pick(free);
      inBackground(world, () => live(user, kind));
    }
    realm.clock.at(random.between(1, 2 * options.writeEverySeconds * 1000), () => runAs(undefined, loop));
  };
  loop();
}
