import { expect, it } from 'vitest';
import { ChainError } from '../chain/chainError.ts';
import { createHealth } from './createHealth.ts';
import { createJudgeWatch } from './createJudgeWatch.ts';

const refusal = new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_simulateV1.');

/** A node that simulates nothing, or everything but what it has been asked before. */
function watch(simulate: () => Promise<{ gas: bigint; returned: '0x' }>) {
  const health = createHealth({ parts: ['judge'], silentMs: 1, now: () => 0 });
  const noteFailures = createJudgeWatch({ chain: { simulate }, state: { seconds: async () => 1n }, health });
  return { health, noteFailures };
}

it('is red where the node does not simulate a harmless call either', async () => {
  const { health, noteFailures } = watch(() => Promise.reject(refusal));
  await noteFailures([refusal]);
  expect(health.faults()).toEqual([expect.stringMatching(/^cannot judge requests since .*: The node did not answer/)]);
  await noteFailures([]);
  expect(health.faults()).toEqual([]);
});

it('stays well where only some requests cannot be judged', async () => {
  const { health, noteFailures } = watch(async () => ({ gas: 1n, returned: '0x' }));
  await noteFailures([refusal]);
  expect(health.faults()).toEqual([]);
});
