// What a user's own sources hold: every entry of every package, and types that are what they seem.
import { type Deployment, forwarderAbi, predictAddresses } from '@prism-gateway/contracts';
import { forwarderBytecode } from '@prism-gateway/contracts/bytecode';
import { REQUEST_STATUSES, type RequestRecord } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { createTypedData } from '@prism-gateway/protocol/typed-data';
import { type ActionInput, createUserClient, GatewayError } from '@prism-gateway/sdk';
import { createAdminClient } from '@prism-gateway/sdk/admin';
import { FeeQuoteError, quoteFee } from '@prism-gateway/sdk/fees';
import { createRelayerClient } from '@prism-gateway/sdk/relayer';
import { createGatewayClient } from '@prism-gateway/sdk/requests';
import { createStorageClient, StorageError } from '@prism-gateway/sdk/storage';
import { signPermit } from '@prism-gateway/sdk/user';
import { keepOnChain, submitMany } from '@prism-gateway/sdk/wallet';
import { createPublicClient, createWalletClient, custom, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const account = privateKeyToAccount(`0x${'1'.repeat(64)}`);
const gateway = createGatewayClient({ url: 'http://127.0.0.1:8787' });
const publicClient = createPublicClient({ transport: http('http://127.0.0.1:8545') });
const domain = { chainId: 31_337, forwarder: predictAddresses(account.address, 0).forwarder };
const shared = { gateway, publicClient, chainName: 'eip155:31337', domain };

export const clients = {
  admin: createAdminClient({ gateway, adminKey: 'secret' }),
  relayer: createRelayerClient({ gateway, account }),
  storage: createStorageClient({
    gateway,
    projectId: '0x00',
    getAccessToken: () => '',
    encryptionKey: new Uint8Array(32),
  }),
  ofAccount: createUserClient({ ...shared, account }),
  ofWallet: createUserClient({ ...shared, walletClient: createWalletClient({ account, transport: http('') }) }),
  ofProvider: createUserClient({ ...shared, provider: keepOnChain({ request: async () => [] }, { chainId: 31_337 }) }),
};

const input: ActionInput<'WRITE_DATA_FOR'> = { cloudId: '0x01', dataId: '0x02', payload: '0x03', relayerFee: 1n };
export const record: Promise<RequestRecord> = clients.ofAccount.writeData(input).then(({ wait }) => wait());
// @ts-expect-error: amounts are bigint.
clients.ofAccount.writeData({ ...input, relayerFee: '1' });
// @ts-expect-error: there is no such verb; so the client's type is known, and no `any`.
clients.ofAccount.fly();

const { relayerFee: _, ...wish } = input;
const terms = { client: publicClient, domain, creditsPerEth: 10n ** 18n };
export const fee: Promise<bigint> = quoteFee(terms, {
  action: 'WRITE_DATA_FOR',
  signer: account.address,
  input: wish,
}).then(({ relayerFee }) => relayerFee);
export const run = submitMany(clients.ofAccount, [{ action: 'WRITE_DATA_FOR', input }]);

export type Deployed = Pick<Deployment, 'forwarder'>;
export const rest = [
  [forwarderAbi.length, forwarderBytecode, REQUEST_STATUSES, EXAMPLE_REQUESTS, createTypedData],
  [GatewayError, StorageError, FeeQuoteError, signPermit, custom],
];
