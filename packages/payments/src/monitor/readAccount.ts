import { stablecoinAbi } from '@prism-gateway/contracts';
import { type Address, maxUint256, type PublicClient } from 'viem';
import { explainError } from '../explainError.ts';

/** Tokens to look at beside the balance of gas. */
export interface WatchedTokens {
  readonly stablecoin: Address;
  /** Whose approval is looked at; absent: none. */
  readonly exchange?: Address | undefined;
}

/** The facts read of an account. */
export interface AccountReading {
  readonly balanceWei: bigint;
  readonly nonce: number;
  /** Stablecoin base units. */
  readonly stablecoins?: bigint;
  readonly isApproved?: boolean;
  /** Which of the tokens' settings is wrong, and why, though the rest was read. */
  readonly tokenFault?: string;
}

type HeldTokens = Pick<AccountReading, 'stablecoins' | 'isApproved' | 'tokenFault'>;

/** A wrong address of a token keeps nobody from watching the gas. */
async function readTokens(client: PublicClient, address: Address, tokens: WatchedTokens): Promise<HeldTokens> {
  const { stablecoin, exchange } = tokens;
  const read = { address: stablecoin, abi: stablecoinAbi } as const;
  try {
    const [stablecoins, allowance, code] = await Promise.all([
      client.readContract({ ...read, functionName: 'balanceOf', args: [address] }),
      exchange === undefined
        ? maxUint256
        : client.readContract({ ...read, functionName: 'allowance', args: [address, exchange] }),
      exchange === undefined ? '0x00' : client.getCode({ address: exchange }),
    ]);
    // Nobody approves, or misses, what is not there: without this, a wrong address would be silent.
    if (code === undefined) return { stablecoins, tokenFault: 'There is no contract at EXCHANGE_ADDRESS.' };
    return { stablecoins, isApproved: allowance >= maxUint256 / 2n };
  } catch (error) {
    return { tokenFault: `STABLECOIN_ADDRESS cannot be read. ${explainError(error)}` };
  }
}

/**
 * Reads what an account has.
 *
 * @param account - its address, and the tokens to look at
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
