export type { NodeClient } from './askNode.ts';
export { FeeQuoteError, type FeeQuoteErrorCode } from './feeQuoteError.ts';
export { type FeeQuote, type FeeTerms, type QuotedAction, quoteFee } from './quoteFee.ts';
