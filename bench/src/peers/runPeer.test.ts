import { expect, test } from 'vitest';
import { type PeerQueue, runPeer } from './runPeer.ts';

test('waits for each job before the next, on each lane, whether it is done before or after its id is there', async () => {
  const listeners: ((jobId: string) => void)[] = [];
  let [added, inFlight, mostInFlight] = [0, 0, 0];
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
  expect(await runPeer(queue, { lanes: 4, count: 50 })).toBeGreaterThan(0);
  expect({ added, inFlight }).toEqual({ added: 60, inFlight: 0 });
  expect(mostInFlight).toBeLessThanOrEqual(4);
});
