import { randomInt } from 'node:crypto';
import { createSeededRandom } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, toHex } from 'viem/utils';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloudAbi, forwarderAbi } from '../src/index.ts';
import { type ChainRig, CREDIT, startChainRig } from './chainRig.ts';
import { campaignAbi } from './generated/campaignAbi.ts';
import { campaignBytecode } from './generated/campaignBytecode.ts';
import { hostileWalletAbi } from './generated/hostileWalletAbi.ts';
import { hostileWalletBytecode } from './generated/hostileWalletBytecode.ts';

/** Calls of the whole campaign; of one scene, as deleted prisms never come back; and of one transaction. */
const CALLS = sized({ small: 500, long: 100_000 });
const CALLS_OF_SCENE = 250;
const CALLS_AT_ONCE = 50;
const BLOCK_GAS = 1_000_000_000;

/** Keys of users; the account of the last one has a wallet's code (EIP-7702). */
const keys = ['first', 'second', 'third'].map((name) => keccak256(toHex(`campaign key ${name}`)));

let rig: ChainRig;
let campaign: Address;

beforeAll(async () => {
  const policy = { protocolFee: 13n, priorityWindow: 0, relayerShareBps: 7_000 };
  rig = await startChainRig({ ...policy, gasLimit: BLOCK_GAS, isCodeUnlimited: true });
  await giveCode(keys[2]!, await rig.deploy(hostileWalletAbi, hostileWalletBytecode));
  const { forwarder, cloud, creditToken } = rig.deployment;
  const args = [forwarder, cloud, creditToken, keys.map(BigInt)];
  const deployed = await rig.deploy(campaignAbi, campaignBytecode, args, BigInt(BLOCK_GAS));
  await rig.giveCredits(deployed, CREDIT);
  const offer = { from: rig.deployer, functionName: 'transferOwnership', args: [deployed] };
  await expectDone(rig.call({ ...offer, to: forwarder, abi: forwarderAbi }));
  await expectDone(rig.call({ ...offer, to: cloud, abi: cloudAbi }));
  await expectDone(rig.call({ from: rig.deployer, to: deployed, abi: campaignAbi, functionName: 'begin', args: [] }));
  campaign = deployed;
});
afterAll(() => rig?.devnet.stop());

const expectDone = async (outcome: ReturnType<ChainRig['call']>) => expect((await outcome).error).toBeUndefined();

/** Lets a key's account have the code of a contract, by a transaction that anyone may send. */
async function giveCode(key: Hex, contractAddress: Address): Promise<void> {
  const authority = privateKeyToAccount(key);
  const { chainId } = rig.deployment;
  const authorization = await authority.signAuthorization({ contractAddress, chainId, nonce: 0 });
  const account = privateKeyToAccount(rig.devnet.privateKeys[3]!);
  const wallet = createWalletClient({ account, transport: http(rig.devnet.rpcUrl) });
  await wallet.sendTransaction({
    chain: null,
    to: authority.address,
    authorizationList: [authorization],
    gas: 200_000n,
  });
  await rig.client.mine({ blocks: 1 });
  expect(await rig.client.getCode({ address: authority.address })).toMatch(/^0xef0100/);
}

/** Plays one scene on the chain as it was at the beginning, and leaves it so. */
async function playScene(seed: number) {
  const snapshot = await rig.client.snapshot();
  const random = createSeededRandom(seed);
  for (let made = 0; made < CALLS_OF_SCENE; made += CALLS_AT_ONCE) {
    const args = [BigInt(Math.floor(random() * 2 ** 31)), BigInt(CALLS_AT_ONCE)];
    const run = { to: campaign, abi: campaignAbi, functionName: 'run', args };
    const { error } = await rig.call({ from: rig.deployer, ...run, gas: BigInt(BLOCK_GAS) });
    expect(error, `play it again by FC_SEED=${seed}`).toBeUndefined();
  }
  const counts = await rig.client.readContract({ address: campaign, abi: campaignAbi, functionName: 'counts' });
  await rig.client.revert({ id: snapshot });
  const [done, refused, starved, permits, calls] = counts;
  return [...done, refused, starved, permits, calls].map(Number);
}

it('does what the rules say and nothing else, whatever wallets and relayers do, under whatever policy', async () => {
  // A scene that fails names its own seed: it is the first one then.
  const first = Number(process.env.FC_SEED ?? randomInt(2 ** 31));
  const sums = new Array<number>(16).fill(0);
  for (let seed = first; (sums[15] ?? 0) < CALLS; seed = Math.floor(createSeededRandom(seed)() * 2 ** 31)) {
    for (const [index, count] of (await playScene(seed)).entries()) sums[index]! += count;
  }
  const [refused = 0, starved = 0, permits = 0, calls = 0] = sums.slice(12);
  const done = sums.slice(0, 12);
  const sum = done.reduce((total, count) => total + count, 0);
  console.log(
    `seed ${first}: ${calls} calls; requests: ${sum} carried out (by function: ${done.join(', ')}; ${permits} permits used),`,
  );
  console.log(`${refused} refused, ${starved} without enough gas`);
  // Else the campaign says little.
  expect(sum).toBeGreaterThan((sum + refused) / sized({ small: 5, long: 3 }));
  expect(refused).toBeGreaterThan(calls / 20);
  expect(Math.min(...done, permits)).toBeGreaterThanOrEqual(Math.floor(calls / 2_000));
});
