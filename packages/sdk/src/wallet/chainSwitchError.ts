/** Why a wallet is not on the chain that a request is for, as a program matches it. */
export type ChainSwitchErrorCode =
  /** The wallet does not know the chain, and was not told of it. */
  | 'CHAIN_UNKNOWN'
  /** The wallet, or its user, did not switch. */
  | 'CHAIN_NOT_SWITCHED';

const remedies: Readonly<Record<ChainSwitchErrorCode, string>> = {
  CHAIN_UNKNOWN: 'the wallet does not know that one: name its RPC URLs in `add`, or add it to the wallet.',
  CHAIN_NOT_SWITCHED: 'the wallet did not switch: choose that one in the wallet, and try again.',
};

/** A wallet is on another chain than the one to sign for. Nothing was signed. */
export class ChainSwitchError extends Error {
  override readonly name = 'ChainSwitchError';
  readonly code: ChainSwitchErrorCode;
  /** EIP-155 id of the chain to sign for. */
  readonly wanted: number;
  /** EIP-155 id of the chain that the wallet is on. */
  readonly actual: number;

  /** @param facts.cause - what the wallet threw, such as code 4001 where its user refused */
  constructor(
    code: ChainSwitchErrorCode,
    facts: { readonly wanted: number; readonly actual: number; readonly cause?: unknown },
  ) {
    const { wanted, actual, cause } = facts;
    super(`The wallet is on chain ${actual}, and is to sign for chain ${wanted}; ${remedies[code]}`, { cause });
    this.code = code;
    this.wanted = wanted;
    this.actual = actual;
  }
}
