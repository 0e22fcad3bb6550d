import { expect, onTestFinished, test, vi } from 'vitest';
import type { Journal } from '../journal/openJournal.ts';
import { type AdvancePorts, advanceRequests, type Handlers } from './advanceRequests.ts';
import { createInFlight } from './createInFlight.ts';
import type { OpenRequest } from './openRequest.ts';

test('one request that brings a defect to light holds up none that are handled with it', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const states = new Map(['poison', 'a', 'b'].map((id): [string, OpenRequest['state']] => [id, 'claimed']));
  const journal: Pick<Journal, 'get'> = {
    // What is asked of it here.
    get: (requestId) => ({ requestId, state: states.get(requestId) }) as OpenRequest,
  };
  const inFlight = createInFlight((error) => expect.unreachable(String(error)));
  for (const id of states.keys()) inFlight.note(id, { kind: 'ready', gas: 1n, feeWei: 1n });
  const handled: string[][] = [];
  const faults: string[] = [];
  const none = async () => [];
  const handlers: Handlers = {
    ...{ confirmClaim: none, reviewClaim: none, followSubmission: none, reportOutcomes: none },
    async submitClaims(requests) {
      const ids = requests.map(({ requestId }) => requestId);
      handled.push(ids);
      if (ids.includes('poison')) throw new TypeError('a defect');
      for (const id of ids) states.set(id, 'submitted');
      return [];
    },
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const notes: AdvancePorts['notes'] = { fault: (place) => void faults.push(place), log };
  advanceRequests({ journal, inFlight, handlers, notes, signal: stop.signal }, [...states.keys()]);
  await vi.waitFor(() => expect(handled).toHaveLength(4), { timeout: 60_000 });
  expect(handled).toEqual([['poison', 'a', 'b'], ['poison'], ['a'], ['b']]);
  expect(faults).toEqual(['work', 'work']);
  expect([...states.values()]).toEqual(['claimed', 'submitted', 'submitted']);
});
