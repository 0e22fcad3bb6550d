import { type Abi, encodeDeployData, type Hex, numberToHex } from 'viem';
import { expect, it } from 'vitest';
import { cloudBytecode, coreBytecode, creditTokenBytecode, forwarderBytecode } from '../src/bytecode.ts';
import { cloudAbi, coreAbi, creditTokenAbi, forwarderAbi } from '../src/index.ts';
import type { ChainRig } from './chainRig.ts';
import { useChain } from './useChain.ts';

const NOBODY = numberToHex(0, { size: 20 });

let rig: ChainRig;

useChain(async (started) => {
  rig = started;
});

const construct = (abi: Abi, bytecode: Hex, args: readonly unknown[]) =>
  rig.sendTransaction({ from: rig.deployer, data: encodeDeployData({ abi, bytecode, args }) });

it('makes no Forwarder without a cloud contract or without credits', async () => {
  const { cloud, creditToken } = rig.deployment;
  for (const [place, token] of [
    [NOBODY, creditToken],
    [cloud, NOBODY],
    [NOBODY, NOBODY],
  ]) {
    const { error } = await construct(forwarderAbi, forwarderBytecode, [
      rig.deployer,
      place,
      token,
      60,
      61,
      0,
      [],
      0n,
      0n,
    ]);
    expect(error).toBe('ZeroAddress()');
  }
});

it('makes no Forwarder whose fee is above its maximum', async () => {
  const { cloud, creditToken } = rig.deployment;
  const args = [rig.deployer, cloud, creditToken, 60, 61, 0, [], 2n, 1n];
  expect((await construct(forwarderAbi, forwarderBytecode, args)).error).toBe('FeeTooHigh(2, 1)');
});

it('makes no cloud contract without a Forwarder, a core or a treasury', async () => {
  const { creditToken, forwarder, core } = rig.deployment;
  for (const [speaker, keeper, treasury] of [
    [NOBODY, core, rig.treasury],
    [forwarder, NOBODY, rig.treasury],
    [forwarder, core, NOBODY],
  ]) {
    const args = [rig.deployer, creditToken, speaker, keeper, treasury];
    expect((await construct(cloudAbi, cloudBytecode, args)).error).toBe('ZeroAddress()');
  }
});

it('makes credits without any at first', async () => {
  const token = await rig.deploy(creditTokenAbi, creditTokenBytecode, [rig.deployment.exchange, rig.deployer, 0n]);
  const read = { address: token, abi: creditTokenAbi, functionName: 'totalSupply' } as const;
  expect(await rig.client.readContract(read)).toBe(0n);
});

it('makes a core that hears the cloud contract it was made for', async () => {
  const core = await rig.deploy(coreAbi, coreBytecode, [rig.deployment.cloud]);
  expect(await rig.client.readContract({ address: core, abi: coreAbi, functionName: 'cloud' })).toBe(
    rig.deployment.cloud,
  );
});
