export { parseReceipt, type Receipt } from './chain/parseReceipt.ts';
export type { Call, Intent, IntentFailure, Sent } from './intents/intent.ts';
export { FINAL_STATES, INTENT_STATES, type IntentState } from './intents/intentState.ts';
export { hashCall } from './intents/liveIntent.ts';
export { readTransactions, type WrittenTransaction } from './journal/readTransactions.ts';
export { openSender } from './openSender.ts';
export type { ChainView, Sender, SenderAccount, SenderOptions, SendOptions, UnsignedTransaction } from './sender.ts';
export { SenderError, type SenderErrorCode } from './senderError.ts';
export type { SenderEvent } from './senderEvent.ts';
