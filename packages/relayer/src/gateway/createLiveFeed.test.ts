import { setImmediate as settle } from 'node:timers/promises';
import { GatewayError } from '@prism-gateway/sdk';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { createLiveFeed } from './createLiveFeed.ts';
import type { FeedPage, QueueCalls } from './requestGateway.ts';

test('if its cursor is refused it goes on from now, and only then has what lies between looked for', async () => {
  const stop = new AbortController();
  const begins = Promise.withResolvers<FeedPage>();
  const lost: string[] = [];
  const feed: QueueCalls['feed'] = async ({ cursor, from }) => {
    if (cursor === 'old') throw new GatewayError({ kind: 'VALIDATION_FAILED', message: 'seen is too old' });
    return await (from === 'now' ? begins.promise : new Promise<never>(() => {}));
  };
  const { events } = makeContext({ signal: stop.signal });
  const ignore = () => undefined;
  const live = createLiveFeed(
    // Nothing else of the calls is asked.
    {
      calls: { feed } as Partial<QueueCalls> as QueueCalls,
      ...{ events, wake: ignore, onBegun: ignore, onRestarted: ignore, random: () => 0.5, signal: stop.signal },
      onLost: () => lost.push(live.cursor()),
    },
    { items: [], cursor: 'old' },
  );
  await settle();
  expect(lost).toEqual([]);
  begins.resolve({ items: [], cursor: 'new' });
  await expect.poll(() => lost).toEqual(['new']);
  stop.abort();
});
