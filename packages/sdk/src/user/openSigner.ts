import type { PermitTypedData, RequestTypedData } from '@prism-gateway/protocol/typed-data';
import type { WalletClient } from 'viem';
import { readProviderAddress, signByProvider } from './signByProvider.ts';
import { WalletError } from './walletError.ts';

/** What is signed: domain, types, primary type and message of a request or a permit. */
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
  // Also where an address is given: a wallet signs for no page that has not asked.
  const first = await readProviderAddress(provider);
  const address = source.address ?? first;
  if (address === undefined) throw new WalletError('SIGNER_MISSING');
  return { address, sign: (typedData) => signByProvider(provider, { address, typedData }) };
}
