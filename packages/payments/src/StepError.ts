/** Why a step of a payment failed. */
export type StepErrorCode =
  | 'APPROVAL_MISSING'
  | 'CONTRACTS_WRONG'
  | 'OUT_OF_ETHER'
  | 'RATE_DEVIATES'
  | 'BUY_FAILED'
  | 'CHAIN_UNAVAILABLE'
  | 'GAS_PRICE_TOO_HIGH'
  | 'PAYOUT_FAILED';

/** A step that failed and may be tried again: nothing that it began can still happen. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code: StepErrorCode;

  constructor(code: StepErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
