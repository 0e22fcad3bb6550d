import { randomInt } from 'node:crypto';
import { createSeededRandom } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloudAbi, forwarderAbi } from '../src/index.ts';
import { type ChainRig, CREDIT, startChainRig } from './chainRig.ts';
import { campaignAbi } from './generated/campaignAbi.ts';
import { campaignBytecode } from './generated/campaignBytecode.ts';

/** Calls of the whole campaign; of one scene, as deleted prisms never come back; and of one transaction at most. */
const CALLS = sized({ small: 500, long: 100_000 });
const CALLS_OF_SCENE = 250;
const CALLS_AT_ONCE = 40;
const RUN_GAS = 29_000_000n;

let rig: ChainRig;

beforeAll(async () => {
  rig = await startChainRig({ protocolFee: 13n, priorityWindow: 0, relayerShareBps: 7_000 });
});
afterAll(() => rig?.devnet.stop());

async function deployCampaign(): Promise<Address> {
  const { forwarder, cloud, creditToken } = rig.deployment;
  const campaign = await rig.deploy(campaignAbi, campaignBytecode, [forwarder, cloud, creditToken]);
  await rig.giveCredits(campaign, CREDIT);
  return campaign;
}

/** Fees, windows, shares, and who is official: what an owner may change at any time. */
async function changePolicy(campaign: Address, pick: (below: number) => number): Promise<void> {
  const { cloud, forwarder } = rig.deployment;
  const from = rig.deployer;
  const setFees = { to: cloud, abi: cloudAbi, functionName: 'setFees', args: [BigInt(pick(30)), rig.treasury] };
  const window = [0, 1, 60][pick(3)] ?? 0;
  const setPolicy = { functionName: 'setPolicy', args: [window, window + pick(100), pick(10_001)] };
  const setOfficial = { functionName: 'setOfficialRelayer', args: [campaign, pick(2) === 0] };
  const onForwarder = { to: forwarder, abi: forwarderAbi };
  for (const call of [setFees, { ...onForwarder, ...setPolicy }, { ...onForwarder, ...setOfficial }]) {
    expect((await rig.call({ from, ...call })).error).toBeUndefined();
  }
}

async function countOf(campaign: Address) {
  const read = { address: campaign, abi: campaignAbi } as const;
  const names = ['calls', 'done', 'refused'] as const;
  const [calls, done, refused] = await Promise.all(
    names.map(async (functionName) => Number(await rig.client.readContract({ ...read, functionName }))),
  );
  return { calls: calls ?? 0, done: done ?? 0, refused: refused ?? 0 };
}

it('does what the rules say and nothing else, whatever wallets and relayers do, under whatever policy', async () => {
  const seed = Number(process.env.FC_SEED ?? randomInt(2 ** 31));
  const random = createSeededRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const sums = { calls: 0, done: 0, refused: 0 };
  while (sums.calls < CALLS) {
    const snapshot = await rig.client.snapshot();
    const campaign = await deployCampaign();
    let counts = await countOf(campaign);
    for (; counts.calls < CALLS_OF_SCENE; counts = await countOf(campaign)) {
      await changePolicy(campaign, pick);
      const args = [BigInt(pick(2 ** 31)), BigInt(CALLS_AT_ONCE)];
      const run = { to: campaign, abi: campaignAbi, functionName: 'run', args };
      const { error } = await rig.call({ from: rig.deployer, ...run, gas: RUN_GAS });
      expect(error, `seed ${seed}, after ${sums.calls + counts.calls} calls`).toBeUndefined();
    }
    sums.calls += counts.calls;
    sums.done += counts.done;
    sums.refused += counts.refused;
    await rig.client.revert({ id: snapshot });
  }
  console.log(`seed ${seed}: ${sums.calls} calls; ${sums.done} requests carried out, ${sums.refused} refused`);
  // Else the campaign says little.
  expect(sums.done).toBeGreaterThan(CALLS / 20);
  expect(sums.refused).toBeGreaterThan(CALLS / 20);
});
