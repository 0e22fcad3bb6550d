import type { Hex } from 'viem';
import { keccak256, recoverAddress, stringToHex } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { buildTypedDataVectors } from '../../scripts/typedDataVectors.ts';
import file from '../../vectors/typed-data.json' with { type: 'json' };
import { ACTIONS } from '../actions/action.ts';

// A second implementation of EIP-712, written out by hand from the standard, for these structs alone: nothing here is
// shared with the code under test but keccak-256.

const tail = 'uint256 relayerFee,uint256 timestamp,uint256 nonce)';
const structs: Readonly<Record<string, string>> = {
  CREATE_PRISM_FOR: `CreatePrism(uint256 fundAmount,uint256 relayerFundAmount,bytes32 salt,${tail}`,
  WRITE_DATA_FOR: `WriteData(bytes32 cloudId,bytes32 dataId,bytes payload,${tail}`,
  MODIFY_DATA_FOR: `ModifyData(bytes32 cloudId,bytes32 dataId,bytes payload,${tail}`,
  DELETE_DATA_FOR: `DeleteData(bytes32 cloudId,bytes32 dataId,${tail}`,
  TRANSFER_PRISM_FOR: `TransferPrism(bytes32 cloudId,address newOwner,${tail}`,
  ACCEPT_TRANSFER_FOR: `AcceptTransfer(bytes32 cloudId,${tail}`,
  DELETE_PRISM_FOR: `DeletePrism(bytes32 cloudId,${tail}`,
  BATCH_WRITE_DATA_FOR: `BatchWriteData(bytes32 cloudId,bytes32[] dataIds,bytes[] payloads,${tail}`,
  BATCH_MODIFY_DATA_FOR: `BatchModifyData(bytes32 cloudId,bytes32[] dataIds,bytes[] payloads,${tail}`,
  BATCH_DELETE_DATA_FOR: `BatchDeleteData(bytes32 cloudId,bytes32[] dataIds,${tail}`,
  CREATE_PRISM_WITH_DATA_FOR: `CreatePrismWithData(uint256 fundAmount,uint256 relayerFundAmount,bytes32 salt,bytes32[] dataIds,bytes[] payloads,${tail}`,
};
const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const permitType = 'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)';

/** All hex is without `0x` in here. */
const hash = (hex: string) => keccak256(`0x${hex}`).slice(2);
const hashText = (text: string) => keccak256(stringToHex(text)).slice(2);
const word = (hex: string) => hex.toLowerCase().padStart(64, '0');
const bare = (value: unknown) => String(value).slice(2);

const encoders: Readonly<Record<string, (value: unknown) => string>> = {
  uint256: (value) => word(BigInt(String(value)).toString(16)),
  address: (value) => word(bare(value)),
  bytes32: (value) => word(bare(value)),
  bytes: (value) => hash(bare(value)),
  'bytes32[]': (value) => hash((value as unknown[]).map((id) => word(bare(id))).join('')),
  'bytes[]': (value) => hash((value as unknown[]).map((payload) => hash(bare(payload))).join('')),
};

function hashStructByHand(type: string, values: Readonly<Record<string, unknown>>): string {
  const fields = type.slice(type.indexOf('(') + 1, -1).split(',');
  const encoded = fields.map((field) => {
    const [kind = '', name = ''] = field.split(' ');
    return encoders[kind]?.(values[name]);
  });
  return hash(hashText(type) + encoded.join(''));
}

function hashDomainByHand(domain: { name: string; version: string; chainId: number; address: string }): string {
  const { name, version, chainId, address } = domain;
  return hash(
    hashText(domainType) + hashText(name) + hashText(version) + word(chainId.toString(16)) + word(bare(address)),
  );
}

function digestByHand(separator: string, struct: string): string {
  return `0x${hash(`1901${separator}${struct}`)}`;
}

test('the file is what the generator makes', async () => {
  expect(file).toEqual(await buildTypedDataVectors());
});

test('every action has its struct, but the batch of several users', () => {
  expect(file.structs.map(({ action }) => action).sort()).toEqual(
    ACTIONS.filter((action) => action !== 'BATCH_MULTI_USER_WRITE_DATA').sort(),
  );
});

// Shows CHAIN-2.
test('the structs and their type hashes are those of the reference', () => {
  for (const { action, encodedType, typeHash } of file.structs) {
    expect([action, encodedType]).toEqual([action, structs[action]]);
    expect(typeHash).toBe(`0x${hashText(encodedType)}`);
  }
  expect(file.domainType).toEqual({ encodedType: domainType, typeHash: `0x${hashText(domainType)}` });
  expect(file.permitType).toEqual({ encodedType: permitType, typeHash: `0x${hashText(permitType)}` });
});

test('the type hashes of EIP-712 and EIP-2612 are the published ones', () => {
  expect(file.domainType.typeHash).toBe('0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f');
  expect(file.permitType.typeHash).toBe('0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9');
});

describe('by hand', () => {
  test.each(file.vectors.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const { action, params, nonce, chainId, forwarder } = vector;
    const struct = hashStructByHand(structs[action] ?? '', { relayerFundAmount: 0, ...params, nonce });
    const separator = hashDomainByHand({ name: 'Forwarder', version: '1', chainId, address: forwarder });
    expect(vector.domainSeparator).toBe(`0x${separator}`);
    expect(vector.structHash).toBe(`0x${struct}`);
    expect(vector.digest).toBe(digestByHand(separator, struct));
    // The file's hashes and signatures are hex.
    const recovered = await recoverAddress({ hash: vector.digest as Hex, signature: vector.signature as Hex });
    expect(recovered).toBe(file.signer.address);
    expect(`${vector.r}${vector.s.slice(2)}${vector.v.toString(16)}`).toBe(vector.signature);
  });

  test.each(file.permits.map((permit) => [permit.name, permit] as const))('%s', async (_, permit) => {
    const { token, chainId, message } = permit;
    const struct = hashStructByHand(permitType, message);
    const separator = hashDomainByHand({ ...token, chainId });
    expect(permit.domainSeparator).toBe(`0x${separator}`);
    expect(permit.structHash).toBe(`0x${struct}`);
    expect(permit.digest).toBe(digestByHand(separator, struct));
    const recovered = await recoverAddress({ hash: permit.digest as Hex, signature: permit.signature as Hex });
    expect(recovered).toBe(message.owner);
  });

  test.each(file.cloudIds.map((id) => [id.salt, id] as const))('the id of the prism with salt %s', (_, id) => {
    expect(id.cloudId).toBe(`0x${hash(word(bare(id.signer)) + word(bare(id.salt)))}`);
  });
});
