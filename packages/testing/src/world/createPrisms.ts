import { creditTokenAbi, type Deployment, encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData, deriveCloudId } from '@prism-gateway/protocol/typed-data';
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  maxUint256,
  type PrivateKeyAccount,
  type Transport,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A user with a prism and no ether. */
export interface PrismUser {
  readonly account: PrivateKeyAccount;
  readonly cloudId: Hex;
}

const SALT = '0x01';
/** Gas of one creation, with room to spare. */
const CREATION_GAS = 500_000n;
/** Creations on the way at once: what fits one block of 30 million gas. */
const CREATIONS_AT_ONCE = 50;

interface Chain {
  /** Where the node is; not needed with a transport. */
  readonly rpcUrl?: string;
  /** How the node is asked instead of over HTTP. */
  readonly transport?: Transport;
  readonly deployment: Deployment;
  /** Of an official relayer that holds credits and ether. */
  readonly sponsorKey: Hex;
}

function connect({ rpcUrl, transport = http(rpcUrl), sponsorKey }: Chain) {
  const sponsor = privateKeyToAccount(sponsorKey);
  const client = createPublicClient({ transport, pollingInterval: 50 });
  return { client, wallet: createWalletClient({ transport, account: sponsor }), sponsor };
}

async function signCreation(
  chain: Chain,
  account: PrivateKeyAccount,
  creation: { credits: bigint; timestamp: bigint },
) {
  const { chainId, forwarder } = chain.deployment;
  const params = {
    fundAmount: '0',
    relayerFundAmount: String(creation.credits),
    salt: SALT,
    relayerFee: '0',
    timestamp: String(creation.timestamp),
  };
  const typedData = createTypedData({ action: 'CREATE_PRISM_FOR', params, nonce: 0n, chainId, forwarder });
  const signature = await account.signTypedData(typedData);
  const signed: ActionParams<'CREATE_PRISM_FOR'> = createSignedParams({
    action: 'CREATE_PRISM_FOR',
    params,
    signer: account.address,
    signature,
  });
  return encodeForwarderCall({ action: 'CREATE_PRISM_FOR', params: signed }).data;
}

/**
 * Gives users a prism each, paid by a sponsor, without any relayer.
 *
 * @param world.accounts - whose prisms; each has forwarder nonce 1 afterwards
 * @param world.credits - what each prism holds, in base units
 */
export async function createPrisms(
  world: Chain & { readonly accounts: readonly PrivateKeyAccount[]; readonly credits: bigint },
): Promise<readonly PrismUser[]> {
  const { client, wallet, sponsor } = connect(world);
  const { forwarder, creditToken } = world.deployment;
  let nonce = await client.getTransactionCount({ address: sponsor.address });
  const { timestamp } = await client.getBlock();
  const approve = {
    address: creditToken,
    abi: creditTokenAbi,
    functionName: 'approve',
    args: [forwarder, maxUint256],
  } as const;
  const approval = await wallet.writeContract({ ...approve, nonce: nonce++, chain: null });
  await client.waitForTransactionReceipt({ hash: approval });
  for (let next = 0; next < world.accounts.length; next += CREATIONS_AT_ONCE) {
    const some = world.accounts.slice(next, next + CREATIONS_AT_ONCE);
    const hashes: Hex[] = [];
    for (const account of some) {
      const data = await signCreation(world, account, { credits: world.credits, timestamp });
      hashes.push(
        await wallet.sendTransaction({ to: forwarder, data, gas: CREATION_GAS, nonce: nonce++, chain: null }),
      );
    }
    const receipts = await Promise.all(hashes.map((hash) => client.waitForTransactionReceipt({ hash })));
    if (receipts.some(({ status }) => status === 'reverted')) throw new Error('A creation was reverted.');
  }
  return world.accounts.map((account) => ({
    account,
    cloudId: deriveCloudId({ signer: account.address, salt: SALT }),
  }));
}
