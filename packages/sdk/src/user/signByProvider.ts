import { getTypesForEIP712Domain, stringify } from 'viem';
import type { Eip1193Provider, SignableTypedData } from './typedDataSigner.ts';
import { WalletError } from './walletError.ts';

/**
 * Asks a wallet for its first account; the user may have to agree.
 *
 * @returns undefined where it gives none
 * @see https://eips.ethereum.org/EIPS/eip-1102
 */
export async function readProviderAddress(provider: Eip1193Provider): Promise<string | undefined> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/**
 * Writes typed data as wallets take it: JSON, with integers as decimal text and the domain's struct among the types.
 *
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function writeTypedData({ domain, types, primaryType, message }: SignableTypedData): string {
  const whole = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  return stringify({ domain, types: whole, primaryType, message });
}

/**
 * Has a browser wallet sign typed data.
 *
 * @param order.address - the account to sign with
 * @returns the signature as hex
 * @throws WalletError WALLET_ANSWER; and what the wallet throws, such as code 4001 where the user refuses
 * @see https://eips.ethereum.org/EIPS/eip-1193
 */
export async function signByProvider(
  provider: Eip1193Provider,
  { address, typedData }: { readonly address: string; readonly typedData: SignableTypedData },
): Promise<string> {
  const params = [address, writeTypedData(typedData)];
  const signature = await provider.request({ method: 'eth_signTypedData_v4', params });
  if (typeof signature === 'string') return signature;
  throw new WalletError('WALLET_ANSWER');
}
