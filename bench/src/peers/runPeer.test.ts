import { expect, test } from 'vitest';
import type { PeerQueue } from './peerQueue.ts';
import { runPeer } from './runPeer.ts';

/** A queue in memory that marks a job done before or after `add` gives its id, as real ones do either. */
function createMemoryQueue() {
  const listeners: ((jobId: string) => void)[] = [];
  let added = 0;
  let inFlight = 0;
  let mostInFlight = 0;
  const queue: PeerQueue = {
    async add() {
      const jobId = String(++added);
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      const finish = () => {
        inFlight -= 1;
        for (const listener of listeners) listener(jobId);
      };
      if (added % 2 === 0) finish();
      else setImmediate(finish);
      return jobId;
    },
    onDone: (listener) => listeners.push(listener),
    close: async () => {},
  };
  return { queue, seen: () => ({ added, inFlight, mostInFlight }) };
}

test('waits for each life before the next, on each lane', async () => {
  const { queue, seen } = createMemoryQueue();
  const perSecond = await runPeer(queue, { mode: 'lives', lanes: 4, concurrency: 1, count: 50 });
  expect(perSecond).toBeGreaterThan(0);
  expect(seen()).toMatchObject({ added: 60, inFlight: 0 });
  expect(seen().mostInFlight).toBeLessThanOrEqual(4);
});

test('lets jobs pile up where a backlog is allowed, and waits for all of them', async () => {
  const { queue, seen } = createMemoryQueue();
  await runPeer(queue, { mode: 'backlog', lanes: 4, concurrency: 1, count: 50 });
  expect(seen()).toMatchObject({ added: 60, inFlight: 0 });
  expect(seen().mostInFlight).toBeGreaterThan(4);
});
