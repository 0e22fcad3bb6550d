import { getAddress, isAddress, isHex } from 'viem';
import type { SendOptions } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import type { Call } from './intent.ts';
import type { IntentDraft, LiveIntent } from './liveIntent.ts';

const MAX_ID_LENGTH = 256;
const MAX_CONFIRMATIONS = 10_000;
const MAX_UINT256 = 2n ** 256n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;

function refuse(message: string): never {
  throw new SenderError('INVALID_ARGUMENT', message);
}

/**
 * Checks a number of confirmations.
 *
 * @param confirmations - the including block counts as 1
 * @returns the same
 * @throws SenderError `INVALID_ARGUMENT`
 */
export function checkConfirmations(confirmations: number): number {
  if (Number.isInteger(confirmations) && confirmations >= 1 && confirmations <= MAX_CONFIRMATIONS) return confirmations;
  return refuse(`confirmations is ${confirmations}; it must be a whole number from 1 to ${MAX_CONFIRMATIONS}.`);
}

/**
 * Reads what a caller wants sent.
 *
 * @param wanted - as it was given to `send`, with the sender's own confirmations
 * @returns the draft of an intent
 * @throws SenderError `INVALID_ARGUMENT`
 */
export function createDraft(wanted: {
  readonly intentId: string;
  readonly call: Call;
  readonly options: SendOptions;
  readonly confirmations: number;
}): IntentDraft {
  const { intentId, call, options } = wanted;
  if (intentId.length === 0 || intentId.length > MAX_ID_LENGTH)
    refuse(`intentId must have 1 to ${MAX_ID_LENGTH} characters.`);
  if (!isAddress(call.to, { strict: false })) refuse('call.to is not an address.');
  if (!isHex(call.data) || call.data.length % 2 !== 0) refuse('call.data must be 0x and whole bytes.');
  const { value = 0n, gasLimit = 0n } = call;
  if (value < 0n || value > MAX_UINT256) refuse('call.value is no uint256.');
  if (call.gasLimit !== undefined && (gasLimit < 1n || gasLimit > MAX_UINT64)) refuse('call.gasLimit is no gas limit.');
  const { maxFeePerGas, expiresAtMs } = options;
  if (maxFeePerGas !== undefined && maxFeePerGas < 0n) refuse('maxFeePerGas is no amount of wei.');
  if (expiresAtMs !== undefined && !Number.isSafeInteger(expiresAtMs)) refuse('expiresAtMs is no whole number.');
  return {
    intentId,
    label: options.label,
    call: { to: getAddress(call.to), data: call.data, value },
    gasLimit,
    confirmations: checkConfirmations(options.confirmations ?? wanted.confirmations),
    maxFeePerGas,
    expiresAtMs,
    rejectsHighGas: options.whenGasTooHigh === 'reject',
  };
}

/**
 * Checks that a known intent is asked for with the call it was made with. Gas limits may differ: they are no part of what is wanted.
 *
 * @param known - the intent as it is
 * @param draft - what is asked for now
 * @throws SenderError `INTENT_MISMATCH`
 */
export function checkSameCall(known: Pick<LiveIntent, 'intentId' | 'call'>, draft: Pick<IntentDraft, 'call'>): void {
  const isSame =
    known.call.to === draft.call.to &&
    known.call.data.toLowerCase() === draft.call.data.toLowerCase() &&
    known.call.value === draft.call.value;
  if (isSame) return;
  throw new SenderError('INTENT_MISMATCH', `The intent ${known.intentId} is known with another call; use another id.`);
}
