import { expect, test } from 'vitest';
import { createHealthPage } from './createHealthPage.ts';

/** An instance of default settings that is well, at an hour of its clock. */
function setUp() {
  const state = { nowMs: 3_600_000, polledAtMs: 3_600_000, isFailing: false, reported: [] as string[], fact: '' };
  const page = createHealthPage({
    journal: {
      fact: (name) => (name === state.fact ? 'it is so' : undefined),
      outbox: { listConditions: () => state.reported },
    },
    polledAtMs: () => state.polledAtMs,
    isJournalFailing: () => state.isFailing,
    pollIntervalMs: 10_000,
    monotonicNow: () => state.nowMs,
  });
  return { state, look: () => page(new URL('http://localhost/health')) };
}

// Shows ALERT-5.
test('a poller that hangs is found after two polls; what waits for an operator is named; dear gas is not', () => {
  const { state, look } = setUp();
  state.nowMs += 20_000;
  expect(look()).toEqual({ body: 'ok\n' });
  state.nowMs += 5001;
  expect(look()).toEqual({ status: 503, body: 'No poll has gone through for 25 seconds.\n' });
  state.polledAtMs = state.nowMs;
  state.reported = ['GAS_PRICE_TOO_HIGH'];
  expect(look()).toEqual({ body: 'ok\n' });
  state.reported = ['NODE_SILENT'];
  expect(look()).toEqual({ status: 503, body: 'NODE_SILENT is raised, and is not over.\n' });
  state.reported = [];
  for (const name of ['key: used elsewhere', 'exchange: broke its word']) {
    state.fact = name;
    expect(look()).toEqual({ status: 503, body: 'it is so\n' });
  }
  state.fact = '';
  state.isFailing = true;
  expect(look()).toEqual({ status: 503, body: 'The journal cannot be written.\n' });
});
