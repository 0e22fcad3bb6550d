/** Users whose accounts have code: contract wallets, delegated accounts, and some that mean harm. */
import { creditTokenAbi, type Deployment } from '@prism-gateway/contracts';
import { testWalletAbi, testWalletBytecode } from '@prism-gateway/devnet/test-wallet';
import { createPrisms, type PrismUser } from '@prism-gateway/testing/world';
import {
  type Address,
  concat,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { GenesisAccount } from '../chain/index.ts';
import { HOSTILE_CODES, SAYS_YES } from './walletCodes.ts';

const ETHER = 10n ** 18n;
/** How EIP-7702 writes that an account runs another one's code. */
const DELEGATION: Hex = '0xef0100';
/** Users who hold credits themselves, and buy further prisms. */
const CREATORS = 3;

/** Who there is beside plain users. */
export interface Specials {
  /** Honest ones: contract wallets, and an account that delegates. */
  readonly wallets: readonly PrismUser[];
  /** Their accounts say yes to any signature, as long as they like. */
  readonly turncoats: readonly PrismUser[];
}

/** Keys of those who are special. */
export interface SpecialKeys {
  readonly owners: readonly PrivateKeyAccount[];
  readonly delegated: readonly PrivateKeyAccount[];
  readonly turncoats: readonly PrivateKeyAccount[];
}

/** Makes the keys. @param keyOf - by name */
export function createSpecialKeys(keyOf: (name: string) => Hex): SpecialKeys {
  const list = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => privateKeyToAccount(keyOf(`${kind} ${index}`)));
  return { owners: list('wallet owner', 2), delegated: list('delegated', 1), turncoats: list('turncoat', 2) };
}

/** The first block's accounts of them. */
export function genesisOf({ delegated, turncoats }: SpecialKeys): Readonly<Record<Address, GenesisAccount>> {
  const code = concat([DELEGATION, SAYS_YES]);
  return Object.fromEntries([
    ...[...HOSTILE_CODES].map(([address, own]) => [address, { code: own }] as const),
    ...[...delegated, ...turncoats].map(({ address }) => [address, { balance: ETHER / 10n, code }] as const),
  ]);
}

/** Deploys contract wallets, gives all a prism, and some plain users credits. Blocks must be made meanwhile. */
export async function createSpecials(setting: {
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly sponsorKey: Hex;
  readonly credits: bigint;
  readonly keys: SpecialKeys;
  readonly users: readonly PrismUser[];
}): Promise<Specials> {
  const { rpcUrl, deployment, sponsorKey, keys, users } = setting;
  const transport = http(rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const sponsor = createWalletClient({ account: privateKeyToAccount(sponsorKey), transport });
  const accounts: PrivateKeyAccount[] = [];
  for (const owner of keys.owners) {
    const args = [owner.address] as const;
    const hash = await sponsor.deployContract({ abi: testWalletAbi, bytecode: testWalletBytecode, args, chain: null });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash });
    // A deployment that was mined has one; the owner signs for it.
    accounts.push({ ...owner, address: contractAddress as Address });
  }
  for (const { account } of users.slice(0, CREATORS)) {
    const token = { address: deployment.creditToken, abi: creditTokenAbi, functionName: 'transfer' } as const;
    const hash = await sponsor.writeContract({ ...token, args: [account.address, 1_000_000n * ETHER], chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
  // Their signature is nobody's: their code says yes to it.
  const [stranger] = keys.owners;
  const turncoats = keys.turncoats.map((own) => ({
    ...own,
    signTypedData: stranger?.signTypedData ?? own.signTypedData,
  }));
  const all = await createPrisms({ ...setting, accounts: [...accounts, ...keys.delegated, ...turncoats] });
  return { wallets: all.slice(0, -turncoats.length), turncoats: all.slice(-turncoats.length) };
}
