/** Whitelisted relayers that are not honest: each lies in its own way, again and again. */

import { setTimeout as pause } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient, type RelayerClient } from '@prism-gateway/sdk';
import { type Hex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { CHAIN_NAME, inBackground, type RelayerKey, type World } from './createWorld.ts';
import { readNonce } from './readNonce.ts';

/** How a relayer can lie. */
export const LIES = ['made-up hash', 'foreign hash', 'false failed', 'idle', 'renews for ever', 'meddles'] as const;
export type Lie = (typeof LIES)[number];

/** How often a liar looks for something to lie about, in milliseconds. */
const LOOK_MS = 3 * 60_000;
/** A lease of the gateway, in milliseconds. */
const LEASE_MS = 900_000;

/** Starts one liar. */
export function startLiar(world: World, { key, address }: RelayerKey, lie: Lie): void {
  const { realm, client: gateway } = world;
  const random = realm.random.fork(`liar ${address}`);
  const client = createRelayerClient({ gateway, account: privateKeyToAccount(key) });
  const who = `liar (${lie})`;

  // Of what became possible within a minute before its claim, a single `failed` accuses nobody (WATCH-7).
  let unproven = lie === 'false failed' ? 1 : 0;
  /** From here on it is to be found out. */
  function note(requestId: string, what: string): void {
    if (unproven > 0) unproven--;
    else if (!world.lies.has(address.toLowerCase())) world.lies.set(address.toLowerCase(), realm.clock.now());
    realm.log.add({ kind: 'actor', who, text: what, about: [requestId, address.toLowerCase()] });
  }

  /** A transaction of somebody else's that is on the chain. */
  function foreignHash(): Hex {
    const hashes = [...world.executions.values()].flatMap((found) => found.map(({ txHash }) => txHash));
    return hashes.length === 0 ? toHex(random.bytes(32)) : (random.pick(hashes) as Hex);
  }

  const acts: Readonly<Record<Lie, (client: RelayerClient, record: RequestRecord) => Promise<void>>> = {
    async 'made-up hash'(relayer, { requestId }) {
      await relayer.reportSuccess(requestId, toHex(random.bytes(32)));
      note(requestId, 'reports success by a transaction that is not there');
    },
    async 'foreign hash'(relayer, { requestId }) {
      await relayer.reportSuccess(requestId, foreignHash());
      note(requestId, 'reports success by a transaction of somebody else');
    },
    async 'false failed'(relayer, { requestId }) {
      const story = world.stories.get(requestId);
      // Nobody can know afterwards what the code of a wallet has decided (WATCH-7).
      const isNext = story !== undefined && (await readNonce(world, story.signer)) === story.nonce;
      if (story?.expects !== 'success' || story.kind === 'wallet' || !isNext) return await give(relayer, requestId);
      await relayer.reportFailure(requestId, 'InvalidSignature');
      note(requestId, 'reports a valid request failed');
    },
    async idle(_, { requestId }) {
      if (world.stories.get(requestId)?.expects === 'success') note(requestId, 'claims and does nothing');
      await pause(LEASE_MS);
    },
    async 'renews for ever'(relayer, { requestId }) {
      for (;;) {
        await pause(LEASE_MS / 2);
        const { items } = await relayer.claimRequests({ requestIds: [requestId] });
        if (items.length === 0) return;
        note(requestId, 'renews its claim and does nothing');
      }
    },
    /** It is refused, unless the gateway lets it do what only the holder of a claim may. */
    async meddles(relayer, { requestId }) {
      const others = await relayer.list({ chainName: CHAIN_NAME, status: 'processing', limit: 10 }).page();
      await give(relayer, requestId);
      for (const { requestId: foreign } of others.items) {
        await relayer.reportFailure(foreign, 'InvalidSignature').catch(() => undefined);
        await relayer.releaseRequest(foreign).catch(() => undefined);
        await relayer.claim(foreign).then(
          () => give(relayer, foreign),
          () => undefined,
        );
      }
    },
  };

  async function give(relayer: RelayerClient, requestId: string): Promise<void> {
    await relayer.releaseRequest(requestId);
  }

  inBackground(world, async () => {
    for (;;) {
      await pause(random.between(LOOK_MS / 2, 2 * LOOK_MS));
      try {
        const records = await client.list({ chainName: CHAIN_NAME, status: 'pending', limit: 10 }).page();
        const [record] = records.items;
        if (record === undefined) continue;
        await client.claim(record.requestId);
        await acts[lie](client, record);
      } catch {
        // Another was first, or it has been suspended: it tries again.
      }
    }
  });
}
