import { cloudAbi, coreAbi, creditTokenAbi, exchangeAbi, forwarderAbi } from '@prism-gateway/contracts';
import { createPublicClient, http } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deployContracts } from './deployContracts.ts';
import { type Devnet, startDevnet } from './startDevnet.ts';

let devnet: Devnet;
beforeAll(async () => {
  devnet = await startDevnet();
});
afterAll(() => devnet?.stop());

it('wires the contracts to each other, with the defaults of the decisions', async () => {
  const [privateKey, relayerKey] = [devnet.privateKeys[0]!, devnet.privateKeys[1]!];
  const owner = privateKeyToAddress(privateKey);
  const relayer = privateKeyToAddress(relayerKey);
  const { rpcUrl } = devnet;
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  const before = await client.getBlockNumber();
  const deployment = await deployContracts({ rpcUrl, privateKey, officialRelayers: [relayer] });
  const { forwarder, cloud, core, creditToken, exchange, stablecoin } = deployment;
  const onForwarder = { address: forwarder, abi: forwarderAbi } as const;
  const onCloud = { address: cloud, abi: cloudAbi } as const;
  expect(await client.readContract({ ...onForwarder, functionName: 'cloud' })).toBe(cloud);
  expect(await client.readContract({ ...onForwarder, functionName: 'creditToken' })).toBe(creditToken);
  expect(await client.readContract({ ...onForwarder, functionName: 'owner' })).toBe(owner);
  expect(await client.readContract({ ...onForwarder, functionName: 'priorityWindow' })).toBe(60);
  expect(await client.readContract({ ...onForwarder, functionName: 'maxAge' })).toBe(86_400);
  expect(await client.readContract({ ...onForwarder, functionName: 'relayerShareBps' })).toBe(7_000);
  expect(await client.readContract({ ...onForwarder, functionName: 'isOfficialRelayer', args: [relayer] })).toBe(true);
  expect(await client.readContract({ ...onForwarder, functionName: 'isOfficialRelayer', args: [owner] })).toBe(false);
  expect(await client.readContract({ ...onCloud, functionName: 'forwarder' })).toBe(forwarder);
  expect(await client.readContract({ ...onCloud, functionName: 'core' })).toBe(core);
  expect(await client.readContract({ ...onCloud, functionName: 'treasury' })).toBe(owner);
  expect(await client.readContract({ address: core, abi: coreAbi, functionName: 'cloud' })).toBe(cloud);
  expect(await client.readContract({ address: exchange, abi: exchangeAbi, functionName: 'rate' })).toBe(1_000n);
  expect(await client.readContract({ address: exchange, abi: exchangeAbi, functionName: 'stablecoin' })).toBe(
    stablecoin,
  );
  const onToken = { address: creditToken, abi: creditTokenAbi } as const;
  expect(await client.readContract({ ...onToken, functionName: 'exchange' })).toBe(exchange);
  expect(await client.readContract({ ...onToken, functionName: 'balanceOf', args: [owner] })).toBe(10n ** 27n);
  expect(deployment.deployedAtBlock).toBe(Number(before) + 6);
});

it('deploys as often as asked, each time elsewhere', async () => {
  const order = { rpcUrl: devnet.rpcUrl, privateKey: devnet.privateKeys[2]! };
  expect((await deployContracts(order)).forwarder).not.toBe((await deployContracts(order)).forwarder);
});

it('fails where a parameter cannot be', async () => {
  const order = { rpcUrl: devnet.rpcUrl, privateKey: devnet.privateKeys[3]!, relayerShareBps: 10_001 };
  await expect(deployContracts(order)).rejects.toMatchObject({
    code: 'DEPLOYMENT_FAILED',
    message: 'The forwarder could not be deployed: its constructor refused with InvalidPolicy.',
  });
});

it('fails where the deployer cannot pay', async () => {
  const poor = { rpcUrl: devnet.rpcUrl, privateKey: `0x${'7'.repeat(64)}` } as const;
  await expect(deployContracts(poor)).rejects.toMatchObject({
    code: 'DEPLOYMENT_FAILED',
    message: /^The stablecoin could not be deployed: .{0,300}$/s,
  });
});
