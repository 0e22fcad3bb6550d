import { stablecoinAbi } from '@prism-gateway/contracts';
import { type Address, maxUint256, type PublicClient } from 'viem';

/** Tokens to look at beside the balance of gas. */
export interface WatchedTokens {
  readonly stablecoin: Address;
  /** Whose approval is looked at; absent: none. */
  readonly exchange?: Address | undefined;
}

/** What an account has. */
export interface AccountReading {
  readonly balanceWei: bigint;
  readonly nonce: number;
  /** Stablecoin base units. */
  readonly stablecoins?: bigint;
  readonly isApproved?: boolean;
  /** Why the tokens could not be read, though the rest was. */
  readonly tokenFault?: unknown;
}

type HeldTokens = Pick<AccountReading, 'stablecoins' | 'isApproved' | 'tokenFault'>;

/** A wrong address of a token keeps nobody from watching the gas. */
async function readTokens(client: PublicClient, address: Address, tokens: WatchedTokens): Promise<HeldTokens> {
  const { stablecoin, exchange } = tokens;
  const read = { address: stablecoin, abi: stablecoinAbi } as const;
  try {
    const [stablecoins, allowance] = await Promise.all([
      client.readContract({ ...read, functionName: 'balanceOf', args: [address] }),
      exchange === undefined
        ? maxUint256
        : client.readContract({ ...read, functionName: 'allowance', args: [address, exchange] }),
    ]);
    return { stablecoins, isApproved: allowance >= maxUint256 / 2n };
  } catch (tokenFault) {
    return { tokenFault };
  }
}

/**
 * Reads what an account has.
 *
 * @param client - of its chain
 * @param account - its address, and the tokens to look at
 * @returns the reading
 * @throws viem's errors
 */
export async function readAccount(
  client: PublicClient,
  account: { readonly address: Address; readonly tokens?: WatchedTokens | undefined },
): Promise<AccountReading> {
  const { address, tokens } = account;
  const [[balanceWei, nonce], held] = await Promise.all([
    Promise.all([client.getBalance({ address }), client.getTransactionCount({ address })]),
    tokens === undefined ? {} : readTokens(client, address, tokens),
  ]);
  return { balanceWei, nonce, ...held };
}
