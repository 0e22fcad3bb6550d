import { readFile } from 'node:fs/promises';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { type Address, createPublicClient, createWalletClient, defineChain, type Hex, http } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';

/** The file that `npm run devnet` writes. */
export interface DevnetFile {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly forwarder: Address;
  readonly cloud: Address;
  readonly creditToken: Address;
}

/** The phrase of development chains: its keys are public, and good for nothing else. */
const PHRASE = 'test test test test test test test test test test test junk';

/** Accounts of the devnet: 0 holds credits, 1 is an official relayer. */
export const [banker, officialRelayer] = [0, 1].map((addressIndex) => mnemonicToAccount(PHRASE, { addressIndex })) as [
  ReturnType<typeof mnemonicToAccount>,
  ReturnType<typeof mnemonicToAccount>,
];

/** Reads where the contracts are: `DEVNET_FILE`, or `data/devnet.json`. */
export async function readDevnet(): Promise<DevnetFile> {
  const file = process.env.DEVNET_FILE ?? new URL('../../data/devnet.json', import.meta.url);
  try {
    // Written by our own devnet.
    return JSON.parse(await readFile(file, 'utf8')) as DevnetFile;
  } catch (cause) {
    throw new Error('There is no devnet: start one with npm run devnet.', { cause });
  }
}

/** Makes viem's clients of the devnet; a block comes with each transaction, so that looking often costs little. */
export function connectChain({ rpcUrl, chainId }: DevnetFile) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({ id: chainId, name: 'devnet', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const transport = http(rpcUrl);
  return {
    chain,
    publicClient: createPublicClient({ chain, transport, pollingInterval: 100 }),
    createWallet: (account: ReturnType<typeof mnemonicToAccount>) => createWalletClient({ chain, transport, account }),
  };
}

/** Gives credits to a user, as the payment relayer would for a card payment. @param amount - base units, 18 decimals */
export async function giveCredits(devnet: DevnetFile, to: Address, amount: bigint): Promise<Hex> {
  const { publicClient, createWallet } = connectChain(devnet);
  const call = {
    address: devnet.creditToken,
    abi: creditTokenAbi,
    functionName: 'transfer',
    args: [to, amount],
  } as const;
  const hash = await createWallet(banker).writeContract(call);
  await publicClient.waitForTransactionReceipt({ hash });
  return hash;
}
