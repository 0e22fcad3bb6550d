import { type Hex, hashStruct, hashTypedData, keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EXAMPLE_CONTEXT } from '../src/examples/exampleContext.ts';
import type { Action, CreateRequestBody } from '../src/index.ts';
import {
  createPermitTypedData,
  createTypedData,
  deriveCloudId,
  hashForwarderDomain,
  hashRequest,
  REQUEST_STRUCTS,
  type SignedAction,
  type Struct,
  splitSignature,
  type UnsignedParams,
} from '../src/typedData/index.ts';
import { DEVELOPMENT_KEYS } from './developmentKeys.ts';
import { buildExampleRequests } from './exampleRequests.ts';

const [privateKey] = DEVELOPMENT_KEYS;
const account = privateKeyToAccount(privateKey);
const { chainId, forwarder, creditToken } = EXAMPLE_CONTEXT;
const home = { chainId, forwarder };
const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const permitType = 'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)';
const uint256Max = String(2n ** 256n - 1n);

interface Case<A extends SignedAction = SignedAction> {
  readonly name: string;
  readonly action: A;
  readonly params: UnsignedParams<A>;
  readonly nonce?: bigint;
  readonly domain?: { readonly chainId: number; readonly forwarder: string };
}

function describe<A extends SignedAction>(vector: Case<A>): Case {
  // Only widens: each case is checked against its own action where it is written.
  return vector as unknown as Case;
}

/** Leaves out what no signature covers, as a client has it before it signs. */
function withoutSignature(params: CreateRequestBody['params']): Record<string, unknown> {
  const { signer, v, r, s, ...unsigned } = params;
  return unsigned;
}

async function exampleCases(): Promise<Case[]> {
  const bodies = await buildExampleRequests();
  return Object.values(bodies)
    .filter((body) => body.action !== 'BATCH_MULTI_USER_WRITE_DATA')
    .map(({ action, params }) => {
      // The filter has left only actions that are signed.
      return { name: `example of ${action}`, action, params: withoutSignature(params) } as Case;
    });
}

const write = { cloudId: `0x${'c1'.repeat(32)}`, dataId: `0x${'0d'.repeat(32)}`, payload: '0x68656c6c6f' };
const fee = { relayerFee: '1', timestamp: '1767225600' };

const edgeCases: readonly Case[] = [
  describe({
    name: 'ids of one byte are left-padded with zeros',
    action: 'WRITE_DATA_FOR',
    params: { ...write, cloudId: '0x01', dataId: '0xff', ...fee },
  }),
  describe({
    name: 'ids of 31 bytes are left-padded with zeros',
    action: 'DELETE_DATA_FOR',
    params: { cloudId: `0x${'c1'.repeat(31)}`, dataId: `0x${'0d'.repeat(31)}`, ...fee },
  }),
  describe({ name: 'an empty payload', action: 'WRITE_DATA_FOR', params: { ...write, payload: '0x', ...fee } }),
  describe({
    name: 'a payload of 33 bytes',
    action: 'MODIFY_DATA_FOR',
    params: { ...write, payload: `0x${'ab'.repeat(33)}`, ...fee },
  }),
  describe({
    name: 'hex in upper case is the same bytes',
    action: 'WRITE_DATA_FOR',
    params: { cloudId: `0x${'C1'.repeat(32)}`, dataId: `0x${'0D'.repeat(32)}`, payload: '0x68656C6C6F', ...fee },
  }),
  describe({
    name: 'the largest numbers',
    action: 'WRITE_DATA_FOR',
    params: { ...write, relayerFee: uint256Max, timestamp: uint256Max },
    nonce: 2n ** 256n - 1n,
  }),
  describe({
    name: 'the smallest numbers',
    action: 'WRITE_DATA_FOR',
    params: { ...write, relayerFee: '0', timestamp: '0' },
  }),
  describe({ name: 'a later nonce', action: 'WRITE_DATA_FOR', params: { ...write, ...fee }, nonce: 41n }),
  describe({
    name: 'another chain and Forwarder',
    action: 'WRITE_DATA_FOR',
    params: { ...write, ...fee },
    domain: { chainId: 8453, forwarder: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0' },
  }),
  describe({
    name: 'a new owner in lower case is the same address',
    action: 'TRANSFER_PRISM_FOR',
    params: { cloudId: write.cloudId, newOwner: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', ...fee },
  }),
  describe({
    name: 'an absent relayerFundAmount is signed as 0',
    action: 'CREATE_PRISM_FOR',
    params: { fundAmount: '0', salt: '0x2a', ...fee },
  }),
  describe({
    name: 'a relayerFundAmount of 0 is signed like an absent one',
    action: 'CREATE_PRISM_FOR',
    params: { fundAmount: '0', relayerFundAmount: '0', salt: '0x2a', ...fee },
  }),
  describe({
    name: 'a batch of one entry',
    action: 'BATCH_WRITE_DATA_FOR',
    params: { cloudId: write.cloudId, dataIds: [write.dataId], payloads: [write.payload], ...fee },
  }),
  describe({
    name: 'a batch with short ids, an empty payload and a double',
    action: 'BATCH_MODIFY_DATA_FOR',
    params: { cloudId: '0x01', dataIds: ['0x01', '0x02', '0x01'], payloads: ['0x', '0xff', '0x'], ...fee },
  }),
  describe({
    name: 'a deletion of 100 entries',
    action: 'BATCH_DELETE_DATA_FOR',
    params: {
      cloudId: write.cloudId,
      dataIds: Array.from({ length: 100 }, (_, i) => `0x${i.toString(16).padStart(2, '0')}`),
      ...fee,
    },
  }),
];

function encodeType({ name, fields }: Struct): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
}

function listStructs() {
  return Object.entries(REQUEST_STRUCTS).map(([action, struct]) => {
    const encodedType = encodeType(struct);
    return { action: action as Action, encodedType, typeHash: keccak256(stringToHex(encodedType)) };
  });
}

/** Writes what a wallet is shown as JSON: numbers as decimal strings. */
function toJson(message: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = (value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return Object.fromEntries(Object.entries(message).map(([name, value]) => [name, text(value)]));
}

async function buildVector({ name, action, params, nonce = 0n, domain = home }: Case) {
  const source = { action, params, nonce, ...domain };
  const typedData = createTypedData(source);
  const { types, primaryType, message } = typedData;
  const signature = await account.signTypedData(typedData);
  return {
    name,
    action,
    chainId: domain.chainId,
    forwarder: domain.forwarder,
    nonce: String(nonce),
    params,
    message: toJson(message),
    domainSeparator: hashForwarderDomain(domain),
    structHash: hashStruct({ types, primaryType, data: message }),
    digest: hashRequest(source),
    signature,
    ...splitSignature(signature),
  };
}

async function buildPermitVector(version: string) {
  const amounts = { value: 5000000000000000000n, nonce: 3n, deadline: 1767229200n };
  const token = { ...creditToken, version };
  const typedData = createPermitTypedData({ token, chainId, owner: account.address, spender: forwarder, ...amounts });
  const { domain, types, primaryType, message } = typedData;
  const signature = await account.signTypedData(typedData);
  return {
    name: `a permit for a token of version ${version}`,
    token,
    chainId,
    message: toJson({ ...message }),
    domainSeparator: hashStruct({
      types: { EIP712Domain: domainFields },
      primaryType: 'EIP712Domain',
      data: { ...domain, chainId: BigInt(domain.chainId) },
    }),
    structHash: hashStruct({ types, primaryType, data: message }),
    digest: hashTypedData(typedData),
    signature,
    permit: { deadline: String(amounts.deadline), ...splitSignature(signature) },
  };
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

function listCloudIds() {
  const salts = ['0x2a', `0x${'5a'.repeat(32)}`, '0x00'] as const;
  return salts.map((salt) => ({
    signer: account.address,
    salt,
    cloudId: deriveCloudId({ signer: account.address, salt }),
  }));
}

/** Builds the content of `vectors/typed-data.json`; the same every time. */
export async function buildTypedDataVectors() {
  const vectors = [];
  for (const vector of [...(await exampleCases()), ...edgeCases]) vectors.push(await buildVector(vector));
  const typeHash = (type: string): Hex => keccak256(stringToHex(type));
  return {
    domainType: { encodedType: domainType, typeHash: typeHash(domainType) },
    structs: listStructs(),
    signer: { privateKey, address: account.address },
    vectors,
    permitType: { encodedType: permitType, typeHash: typeHash(permitType) },
    permits: [await buildPermitVector('1'), await buildPermitVector('2')],
    cloudIds: listCloudIds(),
  };
}
