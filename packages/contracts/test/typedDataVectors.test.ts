import { deriveCloudId } from '@prism-gateway/protocol/typed-data';
import vectors from '@prism-gateway/protocol/vectors/typed-data.json' with { type: 'json' };
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forwarderAbi } from '../src/index.ts';
import { type ChainRig, createUser, startChainRig } from './chainRig.ts';

let rig: ChainRig;

beforeAll(async () => {
  rig = await startChainRig();
});
afterAll(() => rig?.devnet.stop());

describe("the contracts' typed data", () => {
  // Shows CHAIN-1.
  it('has the domain separator of the vectors, at their Forwarder on their chain', async () => {
    const code = await rig.client.getCode({ address: rig.deployment.forwarder });
    for (const { chainId, forwarder, domainSeparator } of vectors.vectors) {
      // The same code at another address: it works its separator out anew there.
      await rig.client.setCode({ address: forwarder as Address, bytecode: code! });
      await rig.client.request({ method: 'anvil_setChainId', params: [chainId] } as never);
      const read = { address: forwarder as Address, abi: forwarderAbi, functionName: 'domainSeparator' } as const;
      expect(await rig.client.readContract(read)).toBe(domainSeparator);
    }
    await rig.client.request({ method: 'anvil_setChainId', params: [rig.deployment.chainId] } as never);
  });

  // Shows CHAIN-4.
  it('has the id of a new prism, whatever the salt', async () => {
    for (const [index, salt] of ['0x00', '0x2a', `0x${'ff'.repeat(32)}`].entries()) {
      const signer = createUser(`creator ${index}`);
      const params = { fundAmount: '0', salt, relayerFee: '0' };
      expect((await rig.act({ action: 'CREATE_PRISM_FOR', signer, params })).error).toBeUndefined();
      const cloudId = deriveCloudId({ signer: signer.address, salt });
      expect(await rig.readPrism(cloudId)).toMatchObject({ owner: signer.address });
    }
  });
});
