/** What is wrong with a wallet, as a program matches it. */
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
