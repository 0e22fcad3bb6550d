import type { Action, ActionParams } from '@prism-gateway/protocol';
import { deriveCloudId } from '@prism-gateway/protocol/typed-data';
import vectors from '@prism-gateway/protocol/vectors/typed-data.json' with { type: 'json' };
import type { Abi, Address } from 'viem';
import { concatHex, keccak256 } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeForwarderCall, forwarderAbi } from '../src/index.ts';
import { type ChainRig, createUser, startChainRig } from './chainRig.ts';
import { hashHarnessAbi } from './generated/hashHarnessAbi.ts';
import { hashHarnessBytecode } from './generated/hashHarnessBytecode.ts';

let rig: ChainRig;
let harness: Address;

beforeAll(async () => {
  rig = await startChainRig();
  harness = await rig.deploy(hashHarnessAbi, hashHarnessBytecode);
});
afterAll(() => rig?.devnet.stop());

const signature = { signer: vectors.signer.address, v: 27, r: `0x${'0'.repeat(64)}`, s: `0x${'0'.repeat(64)}` };

describe("the contracts' typed data", () => {
  it.each(vectors.vectors.map((vector) => [vector.name, vector] as const))(
    'has the struct hash of %s',
    async (_, vector) => {
      // A vector holds an action and its unsigned params.
      const params = { ...vector.params, ...signature } as unknown as ActionParams;
      const { functionName, args } = encodeForwarderCall({ action: vector.action as Action, params });
      const structHash = await rig.client.readContract({
        address: harness,
        abi: hashHarnessAbi as Abi,
        functionName,
        args: [...args, BigInt(vector.nonce)],
      });
      expect(structHash).toBe(vector.structHash);
      const { domainSeparator } = vector as { domainSeparator: `0x${string}` };
      expect(keccak256(concatHex(['0x1901', domainSeparator, vector.structHash as `0x${string}`]))).toBe(vector.digest);
    },
  );

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
