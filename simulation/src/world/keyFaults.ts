/** Operators' acts on a relayer's key, mistaken or right. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../core/random.ts';
import type { World } from './createWorld.ts';
import { createRelayerService, type Service } from './programs.ts';

/** How long foreign transactions of a key are reported, and claims of a lost process last, in milliseconds. */
const AFTERWARDS_MS = 15 * 60_000;

/** A second process with the same key and settings, on another machine with an empty disk. */
async function playTwin(world: World, { name, environment }: Service, minutes: number): Promise<void> {
  const { realm } = world;
  const host = `${name}-twin`;
  const twin = createRelayerService(realm, host, { ...environment, LOCK_DIR: realm.diskOf(host) });
  await twin.start();
  await pause(minutes * 60_000);
  await twin.stop();
  await pause(AFTERWARDS_MS);
}

/**
 * Makes the fault `keys`: a relayer's key is used twice, or exchanged for a new one.
 *
 * @param setting.during - counts what is wrong for as long as it is
 */
export function createKeyPlay(setting: {
  readonly world: World;
  readonly random: () => Random;
  readonly announce: (text: string) => void;
  readonly during: (name: string, work: () => Promise<void>) => Promise<void>;
}): (minutes: number) => Promise<void> {
  const { world, random, announce, during } = setting;
  const spare = [...world.spareKeys];
  return async (minutes) => {
    const relayer = random().pick(world.relayers);
    const next = random().chance(0.4) ? spare.pop() : undefined;
    if (next === undefined) {
      await during('shared key', async () => {
        announce(`a second process has the key of ${relayer.name}`);
        await playTwin(world, relayer, minutes);
      });
      return;
    }
    // As docs/keys.md has it: the address is on the whitelist and has ether, the old one finishes first, the folder stays.
    announce(`${relayer.name} gets a new key, ${next.address}`);
    await relayer.stop();
    const before = world.relayerKeys.find(({ key }) => key === relayer.environment.RELAYER_PRIVATE_KEY);
    if (before !== undefined) world.retired.add(before.address.toLowerCase());
    relayer.environment.RELAYER_PRIVATE_KEY = next.key;
    await relayer.start();
  };
}
