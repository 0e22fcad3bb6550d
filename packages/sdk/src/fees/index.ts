export { FeeQuoteError, type FeeQuoteErrorCode, type NodeClient } from './askNode.ts';
export { type FeeQuote, type FeeTerms, type QuotedAction, quoteFee } from './quoteFee.ts';
