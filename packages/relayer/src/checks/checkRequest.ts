import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Simulated } from '@prism-gateway/rpc';
import { type BlockHead, type ChainReader, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import { coversGas, feeInWei, highestPrice, sumFees } from './fee.ts';
import { listSignedParts } from './findNonce.ts';
import { readBatchResults } from './readBatchResults.ts';
import type { Verdict } from './verdict.ts';

/** Pauses before a request is looked at again, in milliseconds. */
const RECHECK_MS = {
  action: 600_000,
  sponsor: 600_000,
  fee: 10_000,
  gasPrice: 2000,
  nonceAhead: 1000,
  reverts: 1000,
} as const;

/** Most gas that a transaction may have on any chain. @see https://eips.ethereum.org/EIPS/eip-7825 */
const MAX_TRANSACTION_GAS = 16_777_216n;

/** Most gas that a transaction may have on a chain. */
export function mostGas({ gasLimit }: Pick<BlockHead, 'gasLimit'>): bigint {
  return gasLimit < MAX_TRANSACTION_GAS ? gasLimit : MAX_TRANSACTION_GAS;
}

/** What a check works with. */
export interface CheckInput {
  readonly record: RelayedRecord;
  /** With the nonces they were signed for, as far as these are known. */
  readonly signatures: readonly SignatureRef[];
  /** Each signer's forwarder nonce on the chain. */
  readonly nonces: ReadonlyMap<string, bigint>;
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Earliest Unix time in seconds that the next block is expected to have. */
  readonly seconds: bigint;
}

/** What one check asks, and what it goes by. */
export interface CheckContext {
  readonly chain: Pick<ChainReader, 'simulate'>;
  readonly policy: Pick<RelayPolicy, 'actions' | 'feeMarginPercent' | 'maxSponsorCredits'>;
  readonly settings: Pick<ChainSettings, 'creditsPerEth' | 'maxFeePerGas'>;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

function leave(
  now: number,
  reason: keyof typeof RECHECK_MS,
  facts: Pick<Extract<Verdict, { kind: 'leave' }>, 'errorMessage' | 'signatures' | 'gap' | 'paysAtWei'> = {},
): Verdict {
  return { kind: 'leave', reason, recheckAtMs: now + RECHECK_MS[reason], ...facts };
}

/**
 * Judges action and sponsorship: what needs no chain.
 *
 * @returns undefined where nothing speaks against the request
 */
export function checkPolicy(
  { policy, now }: Pick<CheckContext, 'policy' | 'now'>,
  record: RelayedRecord,
): Verdict | undefined {
  if (!policy.actions.has(record.action)) return leave(now(), 'action');
  // Only the creations have it.
  const { relayerFundAmount = '0' } = record.params as Partial<ActionParams<'CREATE_PRISM_FOR'>>;
  return BigInt(relayerFundAmount) > policy.maxSponsorCredits ? leave(now(), 'sponsor') : undefined;
}

function checkAge({ record, seconds, forwarder, signatures }: CheckInput): Verdict | undefined {
  const ends = listSignedParts(record).map(({ params }) => BigInt(params.timestamp) + forwarder.maxAge);
  if (ends.some((end) => end >= seconds)) return undefined;
  return { kind: 'settle', signatures, errorMessage: `RequestExpired(${ends[0]})` };
}

/** The bare timestamp is looked at as well: it may lie in the future. */
function checkOpening({ record, seconds, forwarder }: CheckInput, nowMs: number): Verdict | undefined {
  const timestamps = listSignedParts(record).map(({ params }) => BigInt(params.timestamp));
  const delay = forwarder.isOfficial ? 0n : forwarder.priorityWindow;
  // One by one, as numbers would lose digits of a uint256.
  const [openAt = 0n] = timestamps.map((timestamp) => timestamp + delay).toSorted((a, b) => (a < b ? 1 : -1));
  // A second later, since the simulation sees the time of a block.
  if (openAt <= seconds) return undefined;
  const waitMs = Math.min(Number(openAt - seconds) * 1000, 3_600_000);
  return { kind: 'leave', reason: 'early', recheckAtMs: nowMs + waitMs };
}

/** How each signature stands to the nonces on the chain; in the order of the entries, for a signer may have several in a batch. */
function compareNonces({ signatures, nonces }: CheckInput) {
  const next = new Map(nonces);
  return signatures
    .filter(({ nonce }) => nonce !== undefined)
    .map(({ signer, nonce = 0n }) => {
      const current = next.get(signer) ?? 0n;
      if (nonce === current) next.set(signer, current + 1n);
      return { signer, nonce, current };
    });
}

function checkUsed(input: CheckInput): Verdict | undefined {
  const { signatures } = input;
  const standing = compareNonces(input);
  if (standing.length < signatures.length || !standing.every(({ nonce, current }) => nonce < current)) return undefined;
  return { kind: 'settle', signatures, errorMessage: 'the forwarder nonce it was signed for is used already' };
}

/** An entry of a batch that is not in order would fail, too. */
function checkTurn(input: CheckInput, nowMs: number): Verdict | undefined {
  const { signatures } = input;
  const ahead = compareNonces(input).find(({ nonce, current }) => nonce > current);
  if (ahead === undefined) return undefined;
  const { signer, nonce, current } = ahead;
  const errorMessage = `out of nonce order: signed for forwarder nonce ${nonce} of ${signer}, whose next one is ${current}`;
  return leave(nowMs, 'nonceAhead', { errorMessage, signatures, gap: { signer, nonce: current } });
}

/** What is executed already is so whatever its age and price; what is too old will never be in its turn. */
function checkStanding(input: CheckInput, nowMs: number): Verdict | undefined {
  return checkUsed(input) ?? checkAge(input) ?? checkTurn(input, nowMs) ?? checkOpening(input, nowMs);
}

/** A multi-user batch reverts for no entry; where none would be written, it is worth as little, and the first one's reason stands for all. */
export function readNothingDone(record: RelayedRecord, simulated: Simulated): Simulated {
  if ('reverted' in simulated || record.action !== 'BATCH_MULTI_USER_WRITE_DATA') return simulated;
  // Action and params go together in a record.
  const { requests } = record.params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  const results = readBatchResults(simulated.returned, requests.length);
  return results.some(({ success }) => success) ? simulated : { reverted: results[0]?.reason };
}

/**
 * Checks one request against the chain: window, nonce, simulated outcome, fee.
 *
 * @param context - chain, settings and clock
 * @param input - the request, and what is known of the chain
 * @returns what to do with it
 * @throws ChainError where the node does not answer
 */
export async function checkRequest(context: CheckContext, input: CheckInput): Promise<Verdict> {
  const { chain, policy, settings, now } = context;
  const { record, signatures, head, forwarder, seconds } = input;
  const nowMs = now();
  const standing = checkStanding(input, nowMs);
  if (standing !== undefined) return standing;
  if (head.gasPrice > settings.maxFeePerGas) return leave(nowMs, 'gasPrice');
  // A record holds action and params that go together.
  const { data } = encodeForwarderCall(record);
  const simulated = readNothingDone(record, await chain.simulate(data, nextBlock(head, seconds)));
  if ('reverted' in simulated) {
    const errorMessage = decodeReason(simulated.reverted);
    if (nameReason(simulated.reverted) === 'RequestNotYetOpen') {
      return { kind: 'leave', reason: 'early', recheckAtMs: nowMs + 1000 };
    }
    return leave(nowMs, 'reverts', { errorMessage, signatures });
  }
  const { gas, returned } = simulated;
  if (gas > mostGas(head)) {
    const errorMessage = `it needs ${gas} gas, and a transaction may have ${mostGas(head)}`;
    return { kind: 'settle', signatures, errorMessage };
  }
  const feeWei = feeInWei({
    credits: sumFees(record, returned),
    shareBps: forwarder.shareBps,
    creditsPerEth: settings.creditsPerEth,
  });
  const deal = { feeWei, gas, marginPercent: policy.feeMarginPercent };
  if (coversGas({ ...deal, gasPrice: head.gasPrice })) return { kind: 'ready', signatures, gas, feeWei };
  return leave(nowMs, 'fee', { paysAtWei: highestPrice(deal) });
}
