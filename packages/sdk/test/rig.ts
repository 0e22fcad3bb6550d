import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  createAdminClient,
  createGatewayClient,
  createRelayerClient,
  createUserClient,
  type GatewayClient,
  type RelayerClient,
  type RetryPolicy,
  type UserClient,
  type UserClientOptions,
} from '../src/index.ts';

/** Where no chain is asked: signatures are bound to it all the same. */
export const CHAIN_NAME = 'eip155:31337';
export const DOMAIN = { chainId: 31_337, forwarder: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const;
export const PROJECT_ID = `0x${'0a'.repeat(16)}`;
export const TX_HASH = `0x${'ab'.repeat(32)}`;

/** Repeats that cost a test no time. */
export const QUICK_RETRY: RetryPolicy = { attempts: 5, baseDelayMs: 2, maxDelayMs: 10, maxRetryAfterMs: 5000 };

/** Makes an account with a throwaway key. */
export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** A real gateway with one relayer on its whitelist. */
export interface SdkRig {
  readonly running: RunningGateway;
  readonly gateway: GatewayClient;
  readonly relayerAccount: PrivateKeyAccount;
  readonly relayer: RelayerClient;
  /** Puts another relayer on the whitelist. @param through - the way that its own calls take */
  addRelayer(through?: GatewayClient): Promise<RelayerClient>;
  /** Makes a user whose nonce on the chain is 0, unless told otherwise. */
  createUser(options?: Partial<UserClientOptions>): UserClient;
  /** Has a user submit one request. @returns its id */
  submitOne(): Promise<string>;
  /** @returns an access token of the development issuer */
  getAccessToken(options?: { readonly expiresIn?: number }): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a gateway, and makes clients of it. */
export async function startSdkRig(env: Readonly<Record<string, string>> = {}): Promise<SdkRig> {
  const running = await startGateway({ env });
  const { url, adminKey } = running;
  const gateway = createGatewayClient({ url, retry: QUICK_RETRY });
  const admin = createAdminClient({ gateway, adminKey });
  async function addRelayerOf(account: PrivateKeyAccount, through = gateway): Promise<RelayerClient> {
    await admin.addRelayer({ address: account.address });
    return createRelayerClient({ gateway: through, account });
  }
  const relayerAccount = newAccount();
  const createUser = (options: Partial<UserClientOptions> = {}) => {
    const shared = { gateway, chainName: CHAIN_NAME, domain: DOMAIN, readNonce: async () => 0n };
    const signer = 'provider' in options || 'walletClient' in options ? {} : { account: newAccount() };
    // What the caller leaves out is there.
    return createUserClient({ ...shared, ...signer, ...options } as UserClientOptions);
  };
  return {
    running,
    gateway,
    relayerAccount,
    relayer: await addRelayerOf(relayerAccount),
    addRelayer: (through) => addRelayerOf(newAccount(), through),
    createUser,
    submitOne: async () => (await createUser().deletePrism({ cloudId: '0x01', relayerFee: 1n })).requestId,
    async getAccessToken({ expiresIn = 3600 } = {}) {
      const body = JSON.stringify({ sub: 'alice', expiresIn });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/dev/identity/token`, { method: 'POST', headers, body });
      // The development issuer's answer, as documented.
      return ((await answer.json()) as { readonly access_token: string }).access_token;
    },
    async stop() {
      await running.stop();
    },
  };
}
