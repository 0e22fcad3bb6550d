import { createFakeClock, createLogRecorder, startFetchServer } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createHeartbeat } from './createHeartbeat.ts';

// Shows ALERT-5.
test('a watchdog is called after a round, not more than once in ten seconds, and its URL is in no log', async () => {
  const clock = createFakeClock();
  const paths: string[] = [];
  const server = await startFetchServer(async (request) => {
    paths.push(new URL(request.url).pathname);
    return new Response(null, { status: paths.length === 1 ? 200 : 500 });
  });
  const log = createLogRecorder();
  const heartbeat = createHeartbeat({ url: `${server.url}/ping/secret`, log, monotonicNow: clock.now });
  heartbeat.beat();
  heartbeat.beat();
  await expect.poll(() => paths).toEqual(['/ping/secret']);
  clock.advance(10_000);
  const beatUntil = async (isDone: () => boolean) => {
    const beatOnce = () => {
      heartbeat.beat();
      return isDone();
    };
    await expect.poll(beatOnce).toBe(true);
  };
  await beatUntil(() => paths.length === 2);
  await expect.poll(() => log.lines.length).toBe(1);
  await server.close();
  clock.advance(10_000);
  await beatUntil(() => log.lines.length === 2);
  expect(JSON.stringify(log.lines)).not.toContain('secret');
  createHeartbeat({ url: undefined, log, monotonicNow: clock.now }).beat();
});
