import { type Address, concat, getAddress, type Hash, type Hex, isAddress, isHex, keccak256, numberToHex } from 'viem';
import type { Receipt } from '../chain/parseReceipt.ts';
import type { SendOptions } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import type { Call, Intent, IntentFailure, Sent, TxVersion } from './intent.ts';
import type { IntentState } from './intentState.ts';

/** Where a version was mined. */
export interface MinedAt {
  readonly txHash: Hash;
  readonly blockNumber: bigint;
  readonly blockHash: Hash;
  /** When its first receipt was seen; milliseconds since the epoch. */
  readonly seenAtMs: number;
}

/** A receipt, and the newest head that is known to stand on its block: each was the parent of the next. */
interface Lineage {
  readonly version: TxVersion;
  readonly receipt: Receipt;
  readonly headNumber: bigint;
  readonly headHash: Hash;
}

/** An intent as the sender works on it; the journal holds all but the last fields. */
export interface LiveIntent {
  readonly intentId: string;
  readonly label: string | undefined;
  readonly call: { readonly to: Address; readonly data: Hex; readonly value: bigint };
  /** 0 until it is estimated. */
  gasLimit: bigint;
  confirmations: number;
  /** The most that a version of the call may offer for a unit of gas, in wei; undefined: the sender's ceiling alone bounds it. */
  readonly maxFeePerGas: bigint | undefined;
  /** From then on it is worth nothing; milliseconds since the epoch. */
  readonly expiresAtMs: number | undefined;
  state: IntentState;
  nonce: number | undefined;
  /** All ever signed, oldest first. */
  versions: readonly TxVersion[];
  failure: IntentFailure | undefined;
  mined: MinedAt | undefined;
  sent: Sent | undefined;
  readonly createdAtMs: number;
  updatedAtMs: number;

  /** It has been in the journal, and so is never refused or forgotten. */
  isJournalled: boolean;
  rejectsHighGas: boolean;
  /** The version on offer, and since when this process has offered it. */
  offered: { readonly txHash: Hash; readonly sinceMs: number } | undefined;
  /** When its bytes shall be given to the node again. */
  nextBroadcastAtMs: number;
  /** Refusals in a row. */
  refusals: number;
  /** The node wants more for it; it does not wait for its time to be bumped. */
  isUnderpriced: boolean;
  /** Looks in a row that found its nonce passed and no receipt. */
  misses: number;
  /** While all heads since its receipt have followed one another, the receipt still holds. */
  lineage: Lineage | undefined;
}

/** The parts of a new intent. */
export interface IntentDraft {
  readonly intentId: string;
  readonly label: string | undefined;
  readonly call: LiveIntent['call'];
  readonly gasLimit: bigint;
  readonly confirmations: number;
  readonly maxFeePerGas: bigint | undefined;
  readonly expiresAtMs: number | undefined;
  readonly rejectsHighGas: boolean;
}

/**
 * Makes an intent that nothing has been done for.
 *
 * @param nowMs - milliseconds since the epoch
 * @returns the intent, `queued`
 */
export function createLiveIntent(draft: IntentDraft, nowMs: number): LiveIntent {
  return {
    ...draft,
    state: 'queued',
    nonce: undefined,
    versions: [],
    failure: undefined,
    mined: undefined,
    sent: undefined,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    isJournalled: false,
    ...createTraces(),
  };
}

/** The state that is not journalled, as it is at first. */
export function createTraces() {
  return { offered: undefined, nextBroadcastAtMs: 0, refusals: 0, isUnderpriced: false, misses: 0, lineage: undefined };
}

/**
 * Picks the versions on the nonce that an intent holds.
 *
 * @returns oldest first; none while `queued`
 */
export function currentVersions(intent: Pick<LiveIntent, 'versions' | 'nonce'>): readonly TxVersion[] {
  return intent.versions.filter((version) => version.nonce === intent.nonce);
}

/**
 * Picks the version that is on offer: the one signed last, which pays the most.
 *
 * @throws TypeError if there is none, which is a defect
 */
export function newestVersion(intent: Pick<LiveIntent, 'intentId' | 'versions' | 'nonce'>): TxVersion {
  const version = currentVersions(intent).at(-1);
  if (version === undefined) throw new TypeError(`intent ${intent.intentId} has no signed bytes`);
  return version;
}

/** Shows an intent to a caller. */
export function describeIntent(intent: LiveIntent): Intent {
  const { intentId, state, label, call, confirmations, nonce, sent, failure, createdAtMs, updatedAtMs } = intent;
  return {
    intentId,
    state,
    ...(label === undefined ? {} : { label }),
    call,
    confirmations,
    ...(nonce === undefined ? {} : { nonce }),
    txHashes: intent.versions.map((version) => version.hash),
    ...(sent === undefined ? {} : { sent }),
    ...(failure === undefined ? {} : { failure }),
    createdAtMs,
    updatedAtMs,
  };
}

/**
 * Makes the outcome of an intent from the receipt of its mined version.
 *
 * @param intent - `mined`
 */
export function describeOutcome(intent: LiveIntent, receipt: Receipt): Sent {
  const { status, blockNumber, blockHash, gasUsed, effectiveGasPrice, dataFee, logs, txHash } = receipt;
  // A mined intent has a nonce.
  const nonce = intent.nonce as number;
  const price = { gasUsed, effectiveGasPrice, dataFee };
  return { intentId: intent.intentId, txHash, nonce, status, blockNumber, blockHash, ...price, logs };
}

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

/** The digest of a call, which stands for it once its bytes are pruned. */
export function hashCall({ to, data, value }: LiveIntent['call']): Hex {
  return keccak256(concat([to, numberToHex(value, { size: 32 }), data]));
}

/**
 * Checks that a known intent is asked for with the call it was made with. Gas limits may differ: they are no part of what is wanted.
 *
 * @throws SenderError `INTENT_MISMATCH`
 */
export function checkSameCall(
  known: Pick<Intent, 'intentId' | 'call' | 'callHash'>,
  draft: Pick<IntentDraft, 'call'>,
): void {
  const { call, callHash } = known;
  const isSame =
    call === undefined
      ? callHash === hashCall(draft.call)
      : call.to === draft.call.to &&
        call.data.toLowerCase() === draft.call.data.toLowerCase() &&
        call.value === draft.call.value;
  if (isSame) return;
  throw new SenderError('INTENT_MISMATCH', `The intent ${known.intentId} is known with another call; use another id.`);
}
