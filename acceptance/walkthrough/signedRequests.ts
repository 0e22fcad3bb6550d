import type { CreateRequestBody } from '@prism-gateway/protocol';
import {
  createMultiUserBatchParams,
  createPermit,
  createPermitTypedData,
  createSignedParams,
  createTypedData,
  deriveCloudId,
  type SignedAction,
  type UnsignedParams,
} from '@prism-gateway/protocol/typed-data';
import { keccak256, stringToHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';

const CHAIN_ID = 31_337;
/** Where the local development chain has the contracts. */
const FORWARDER = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const CREDIT_TOKEN = { address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', name: 'Prism Credit', version: '1' };
const PERMIT_SECONDS = 3600;

interface Wallet {
  readonly account: PrivateKeyAccount;
  /** Forwarder nonce of the next request; each one is signed for the next. */
  nextNonce: bigint;
}

async function signParams<A extends SignedAction>(wallet: Wallet, action: A, params: UnsignedParams<A>) {
  const location = { nonce: wallet.nextNonce++, chainId: CHAIN_ID, forwarder: FORWARDER } as const;
  const signature = await wallet.account.signTypedData(createTypedData({ action, params, ...location }));
  return createSignedParams({ action, params, signer: wallet.account.address, signature });
}

async function signPermit(account: PrivateKeyAccount, value: bigint, now: number) {
  const deadline = BigInt(now + PERMIT_SECONDS);
  const order = {
    token: CREDIT_TOKEN,
    chainId: CHAIN_ID,
    owner: account.address,
    spender: FORWARDER,
    nonce: 0n,
  };
  const signature = await account.signTypedData(createPermitTypedData({ ...order, value, deadline }));
  return createPermit({ deadline, signature });
}

/** Params of one request of each action that the wallet signs itself. */
async function chooseParams(account: PrivateKeyAccount, newOwner: string, now: number) {
  const fee = { relayerFee: '10000000000000000', timestamp: String(now) };
  const salt = stringToHex('walkthrough', { size: 32 });
  const cloudId = deriveCloudId({ signer: account.address, salt });
  const [profile, avatar] = [keccak256(stringToHex('profile')), keccak256(stringToHex('avatar'))];
  const [dataIds, payload] = [[profile, avatar], stringToHex('{"name":"Ada"}')];
  const funds = 5n * 10n ** 18n;
  const params: { [A in SignedAction]: UnsignedParams<A> } = {
    CREATE_PRISM_FOR: { fundAmount: String(funds), salt, permit: await signPermit(account, funds, now), ...fee },
    WRITE_DATA_FOR: { cloudId, dataId: profile, payload, ...fee },
    MODIFY_DATA_FOR: { cloudId, dataId: profile, payload: stringToHex('{"name":"Ada Lovelace"}'), ...fee },
    DELETE_DATA_FOR: { cloudId, dataId: profile, ...fee },
    BATCH_WRITE_DATA_FOR: { cloudId, dataIds, payloads: [payload, '0x89504e47'], ...fee },
    BATCH_MODIFY_DATA_FOR: { cloudId, dataIds, payloads: [payload, '0x'], ...fee },
    BATCH_DELETE_DATA_FOR: { cloudId, dataIds, ...fee },
    TRANSFER_PRISM_FOR: { cloudId, newOwner, ...fee },
    ACCEPT_TRANSFER_FOR: { cloudId, ...fee },
    DELETE_PRISM_FOR: { cloudId, ...fee },
    CREATE_PRISM_WITH_DATA_FOR: { fundAmount: '0', salt: '0x02', dataIds, payloads: [payload, '0x89504e47'], ...fee },
  };
  return params;
}

/**
 * Signs one request of each of the twelve actions, as a wallet does: EIP-712 typed data over the Forwarder's domain.
 *
 * @param account - the user
 * @param friend - another user: the new owner, and the second writer of the multi-user batch
 * @returns bodies of `POST /requests`
 */
export async function signEveryAction(
  account: PrivateKeyAccount,
  friend: PrivateKeyAccount,
): Promise<CreateRequestBody[]> {
  const now = Math.floor(Date.now() / 1000);
  const wallet: Wallet = { account, nextNonce: 0n };
  const wishes = await chooseParams(account, friend.address, now);
  const bodies: CreateRequestBody[] = [];
  for (const action of Object.keys(wishes) as SignedAction[]) {
    const params = await signParams(wallet, action, wishes[action]);
    // Action and params come from one entry of `wishes`.
    bodies.push({ chainName: `eip155:${CHAIN_ID}`, action, params } as CreateRequestBody);
  }
  const entries = [
    await signParams(wallet, 'WRITE_DATA_FOR', wishes.WRITE_DATA_FOR),
    await signParams({ account: friend, nextNonce: 0n }, 'WRITE_DATA_FOR', wishes.WRITE_DATA_FOR),
  ];
  const batch = { signer: account.address, timestamp: String(now), requests: entries };
  const params = createMultiUserBatchParams(batch);
  return [...bodies, { chainName: `eip155:${CHAIN_ID}`, action: 'BATCH_MULTI_USER_WRITE_DATA', params }];
}
