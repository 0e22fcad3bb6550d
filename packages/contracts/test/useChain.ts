import type { DeployOptions } from '@prism-gateway/devnet';
import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type ChainRig, startChainRig } from './chainRig.ts';

/**
 * Gives the tests of a file a chain with the contracts, on which nothing of one test is left for the next.
 *
 * @param prepare - what all tests find there
 * @param options - the contracts' parameters
 */
export function useChain(prepare: (rig: ChainRig) => Promise<void>, options: Partial<DeployOptions> = {}): void {
  let rig: ChainRig | undefined;
  let snapshot: Hex | undefined;
  beforeAll(async () => {
    rig = await startChainRig(options);
    await prepare(rig);
  });
  afterAll(() => rig?.devnet.stop());
  beforeEach(async () => {
    snapshot = await rig?.client.snapshot();
  });
  afterEach(async () => {
    if (snapshot !== undefined) await rig?.client.revert({ id: snapshot });
  });
}
