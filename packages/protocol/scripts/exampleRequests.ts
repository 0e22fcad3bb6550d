import { keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EXAMPLE_CONTEXT } from '../src/examples/exampleContext.ts';
import type { ActionParams, CreateRequestBody } from '../src/index.ts';
import {
  createMultiUserBatchParams,
  createPermit,
  createPermitTypedData,
  createSignedParams,
  createTypedData,
  deriveCloudId,
  type SignedAction,
  type UnsignedParams,
} from '../src/typedData/index.ts';
import { DEVELOPMENT_KEYS } from './developmentKeys.ts';

const accounts = DEVELOPMENT_KEYS.map((key) => privateKeyToAccount(key));
const [owner, secondUser, thirdUser] = accounts as [Account, Account, Account];
type Account = ReturnType<typeof privateKeyToAccount>;

const { chainName, chainId, forwarder, creditToken } = EXAMPLE_CONTEXT;
const nonce = BigInt(EXAMPLE_CONTEXT.nonce);
const salt = '0x2a';
const cloudId = deriveCloudId({ signer: owner.address, salt });
const profile = keccak256(stringToHex('profile'));
const avatar = keccak256(stringToHex('avatar'));
const fee = { relayerFee: '10000000000000000', timestamp: '1767225600' };
const fundAmount = '5000000000000000000';
const deadline = 1767229200n;
const payload = stringToHex('{"name":"Ada"}');

async function signPermit() {
  const value = BigInt(fundAmount);
  const permit = { token: creditToken, chainId, owner: owner.address, spender: forwarder, value, nonce, deadline };
  return createPermit({ deadline, signature: await owner.signTypedData(createPermitTypedData(permit)) });
}

async function sign<A extends SignedAction>(account: Account, action: A, params: UnsignedParams<A>) {
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return createSignedParams({ action, params, signer: account.address, signature });
}

type ParamsOf = { [A in SignedAction]: UnsignedParams<A> };

async function chooseParams(): Promise<ParamsOf> {
  return {
    CREATE_PRISM_FOR: { fundAmount, salt, permit: await signPermit(), ...fee },
    WRITE_DATA_FOR: { cloudId, dataId: profile, payload, ...fee },
    MODIFY_DATA_FOR: { cloudId, dataId: profile, payload: stringToHex('{"name":"Ada Lovelace"}'), ...fee },
    DELETE_DATA_FOR: { cloudId, dataId: '0x0d', ...fee },
    TRANSFER_PRISM_FOR: { cloudId, newOwner: secondUser.address, ...fee },
    ACCEPT_TRANSFER_FOR: { cloudId, ...fee },
    DELETE_PRISM_FOR: { cloudId, ...fee },
    BATCH_WRITE_DATA_FOR: { cloudId, dataIds: [profile, avatar], payloads: [payload, '0x89504e47'], ...fee },
    BATCH_MODIFY_DATA_FOR: { cloudId, dataIds: [profile, avatar], payloads: [payload, '0x'], ...fee },
    BATCH_DELETE_DATA_FOR: { cloudId, dataIds: [profile, avatar], ...fee },
    CREATE_PRISM_WITH_DATA_FOR: {
      fundAmount: '0',
      relayerFundAmount: '2000000000000000000',
      salt: '0x2b',
      dataIds: [profile],
      payloads: [payload],
      ...fee,
    },
  };
}

async function signBatch(): Promise<ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>> {
  const write = (account: Account, salt: string) => {
    const params = { cloudId: deriveCloudId({ signer: account.address, salt }), dataId: profile, payload, ...fee };
    return sign(account, 'WRITE_DATA_FOR', params);
  };
  const requests = [await write(secondUser, '0x01'), await write(thirdUser, '0x02')];
  return createMultiUserBatchParams({ signer: owner.address, timestamp: fee.timestamp, requests });
}

/**
 * Builds one really signed request of each action; the same every time.
 *
 * @returns bodies of `POST /requests`, by action
 */
export async function buildExampleRequests(): Promise<Record<string, CreateRequestBody>> {
  const bodies: Record<string, CreateRequestBody> = {};
  for (const [name, params] of Object.entries(await chooseParams())) {
    // The keys of `ParamsOf` are actions, each with its own params.
    const action = name as SignedAction;
    bodies[action] = { chainName, action, params: await sign(owner, action, params) } as CreateRequestBody;
  }
  const action = 'BATCH_MULTI_USER_WRITE_DATA';
  bodies[action] = { chainName, action, params: await signBatch() };
  return bodies;
}
