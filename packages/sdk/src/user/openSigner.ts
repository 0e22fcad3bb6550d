import {
  type PermitTypedData,
  type RequestTypedData,
  recoverRequestSigner,
  type SignedRequest,
} from '@prism-gateway/protocol/typed-data';
import { getTypesForEIP712Domain, stringify, type WalletClient } from 'viem';

/** The data to sign: domain, types, primary type and message of a request or a permit. */
export type SignableTypedData = RequestTypedData | PermitTypedData;

/** A viem local account, or anything that signs typed data with a known address. */
export interface TypedDataAccount {
  readonly address: string;
  signTypedData(typedData: RequestTypedData): Promise<string>;
}

/** The part of a viem wallet client that signing needs. */
export type TypedDataWalletClient = Pick<WalletClient, 'account' | 'getAddresses' | 'signTypedData'>;

/** An EIP-1193 provider, such as a browser wallet injects. */
export interface Eip1193Provider {
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/** Who signs: one of the three. */
export type SignerSource =
  | { readonly account: TypedDataAccount }
  | { readonly walletClient: TypedDataWalletClient }
  | {
      readonly provider: Eip1193Provider;
      /** The account to sign with; default the first that the wallet lets this page use. */
      readonly address?: string | undefined;
    };

/** One signer, wherever its key is. */
export interface TypedDataSigner {
  /** `0x` and 40 hex digits. */
  readonly address: string;
  /** @returns the signature as hex; whatever the wallet throws, it throws */
  sign(typedData: SignableTypedData): Promise<string>;
}

/**
 * Asks a wallet for its first account; the user may have to agree.
 *
 * @returns undefined if it gives none
 * @see https://eips.ethereum.org/EIPS/eip-1102
 */
async function readProviderAddress(provider: Eip1193Provider): Promise<string | undefined> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/**
 * Writes typed data as wallets take it: JSON, with integers as decimal text and the domain's struct among the types.
 *
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
function writeTypedData({ domain, types, primaryType, message }: SignableTypedData): string {
  const whole = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  return stringify({ domain, types: whole, primaryType, message });
}

/**
 * Has a browser wallet sign typed data.
 *
 * @param order.address - the account to sign with
 * @returns the signature as hex
 * @throws WalletError WALLET_ANSWER; and what the wallet throws, such as code 4001 if the user refuses
 * @see https://eips.ethereum.org/EIPS/eip-1193
 */
async function signByProvider(
  provider: Eip1193Provider,
  { address, typedData }: { readonly address: string; readonly typedData: SignableTypedData },
): Promise<string> {
  const params = [address, writeTypedData(typedData)];
  const signature = await provider.request({ method: 'eth_signTypedData_v4', params });
  if (typeof signature === 'string') return signature;
  throw new WalletError('WALLET_ANSWER');
}

async function openWallet(walletClient: TypedDataWalletClient): Promise<TypedDataSigner> {
  const account = walletClient.account ?? (await walletClient.getAddresses())[0];
  if (account === undefined) throw new WalletError('SIGNER_MISSING');
  return {
    address: typeof account === 'string' ? account : account.address,
    sign: (typedData) => walletClient.signTypedData({ ...asRequest(typedData), account }),
  };
}

/** To a wallet a permit is typed data like any other. */
function asRequest(typedData: SignableTypedData): RequestTypedData {
  // Only the domain's name is another literal, and the message has its fields by name.
  return typedData as unknown as RequestTypedData;
}

/**
 * Makes one signer of whichever kind of wallet is given; a browser wallet may ask its user for leave here.
 *
 * @throws WalletError SIGNER_MISSING
 */
export async function openSigner(source: SignerSource): Promise<TypedDataSigner> {
  if ('walletClient' in source) return await openWallet(source.walletClient);
  if ('account' in source) {
    const { account } = source;
    return { address: account.address, sign: (typedData) => account.signTypedData(asRequest(typedData)) };
  }
  const { provider } = source;
  // Also if an address is given: a wallet signs for no page that has not asked.
  const first = await readProviderAddress(provider);
  const address = source.address ?? first;
  if (address === undefined) throw new WalletError('SIGNER_MISSING');
  return { address, sign: (typedData) => signByProvider(provider, { address, typedData }) };
}

/** The fault of a wallet, as a program matches it. */
export type WalletErrorCode =
  /** There is no account to sign with: the wallet is locked, or this page has no leave to use it. */
  | 'SIGNER_MISSING'
  /** The wallet's answer is not what the method gives. */
  | 'WALLET_ANSWER'
  /** The signature is another account's than the one that was asked. */
  | 'WRONG_SIGNER';

const sentences: Readonly<Record<WalletErrorCode, string>> = {
  SIGNER_MISSING: 'The wallet gave no account to sign with: unlock it, and let this page use it.',
  WALLET_ANSWER: 'The wallet answered with something that is no signature.',
  WRONG_SIGNER: "Another account than asked has signed, or a contract: that needs 'erc1271'.",
};

/** A wallet could not be used. It never repeats a signature; what a wallet itself throws, such as code 4001 of EIP-1193, goes through. */
export class WalletError extends Error {
  override readonly name = 'WalletError';
  readonly code: WalletErrorCode;

  constructor(code: WalletErrorCode) {
    super(sentences[code]);
    this.code = code;
  }
}

/**
 * Whether the key of an account has signed a request, nonce included.
 *
 * @param signer - address, in any letter case
 */
export async function isSignedBy(signer: string, request: SignedRequest): Promise<boolean> {
  try {
    return (await recoverRequestSigner(request)).toLowerCase() === signer.toLowerCase();
  } catch {
    // No key can have made this signature over this nonce.
    return false;
  }
}
