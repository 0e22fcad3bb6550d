import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { privateKeyToAddress } from 'viem/accounts';
import { expect, it } from 'vitest';
import { predictAddresses } from './deployment.ts';

it('predicts the addresses of the devnet', async () => {
  await using devnet = await startDevnet();
  const [privateKey] = devnet.privateKeys;
  const deployment = await deployContracts({ rpcUrl: devnet.rpcUrl, privateKey: privateKey! });
  expect(deployment).toMatchObject(predictAddresses(privateKeyToAddress(privateKey!), 0));
});
