/** The gateway's disk, put back to an older copy by its operator; whoever misses a request posts it again. */
import { setTimeout as pause } from 'node:timers/promises';
import { restoreDisk, saveDisk } from '../core/disks.ts';
import type { World } from './createWorld.ts';
import { type Story, UNKNOWN } from './story.ts';
import { letIn } from './whitelistFaults.ts';

/**
 * Copies the gateway's disk.
 *
 * @returns puts the copy back: what was answered since is gone, as after any restore. For `takesMs` nobody answers
 */
export function copyGateway(world: World): (takesMs: number) => Promise<void> {
  const { realm, gateway, client, stories, restores } = world;
  const folder = realm.diskOf(gateway.host);
  const saved = saveDisk(folder);
  const savedMs = realm.clock.now();
  /** It may be down once more. */
  async function postAgain({ body }: Story): Promise<{ readonly requestId: string }> {
    for (;;) {
      const posted = await client.submitRequest(body).catch(() => undefined);
      if (posted !== undefined) return posted;
      await pause(5000);
    }
  }
  return async function restoreGateway(takesMs) {
    gateway.kill();
    restoreDisk(folder, saved);
    restores.count += 1;
    const lost = [...stories.values()].filter(({ postedAtMs }) => postedAtMs >= savedMs);
    for (const story of stories.values()) if ((story.endedAtMs ?? 0) >= savedMs) Object.assign(story, UNKNOWN);
    for (const { requestId } of lost) stories.delete(requestId);
    await pause(takesMs);
    await gateway.start();
    world.shutOut.clear();
    await letIn(world);
    for (const story of lost) {
      const { requestId } = await postAgain(story);
      stories.set(requestId, Object.assign(story, UNKNOWN, { requestId }));
      realm.log.add({ kind: 'actor', who: `user ${story.signer}`, text: 'posts again', about: [requestId] });
    }
  };
}
