import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Simulated } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import type { Budgets, Party } from '../budgets/createBudgets.ts';
import { type BlockHead, type ChainReader, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import { coversGas, feeInWei, highestPrice, readBatchResults, sumFees } from './fee.ts';
import { listSignedParts } from './findNonce.ts';
import type { ReadWallet } from './readWallet.ts';
import { mostGas, transactionTerms } from './transactionTerms.ts';
import type { Verdict } from './verdict.ts';

/** Pauses before a request is looked at again, in milliseconds. */
const RECHECK_MS = {
  action: 600_000,
  sponsor: 600_000,
  wallet: 600_000,
  fee: 10_000,
  gasPrice: 2000,
  nonceAhead: 1000,
  reverts: 1000,
} as const;

/** Gas of a request that is refused for its nonce, without its calldata, which is at most a quarter of what it needs in all. */
const EARLY_REVERT_GAS = 40_000n;

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

export interface CheckContext {
  readonly chain: Pick<ChainReader, 'simulate' | 'extraCost'>;
  readonly readWallet: ReadWallet;
  readonly budgets: Pick<Budgets, 'findExceeded'>;
  readonly policy: Pick<
    RelayPolicy,
    'actions' | 'feeMarginPercent' | 'maxSponsorCredits' | 'unknownWallets' | 'unknownWalletMarginPercent'
  >;
  readonly settings: Pick<ChainSettings, 'creditsPerEth' | 'maxFeePerGas'>;
  readonly now: () => number;
}

function leave(
  now: number,
  reason: keyof typeof RECHECK_MS,
  facts: Pick<Extract<Verdict, { kind: 'leave' }>, 'errorMessage' | 'signatures' | 'gap' | 'paysAtWei'> = {},
): Verdict {
  return { kind: 'leave', reason, recheckAtMs: now + RECHECK_MS[reason], ...facts };
}

/** Credits that a request asks the relayer to put into a new prism; only creations do. */
function sponsorship({ params }: Pick<RelayedRecord, 'params'>): bigint {
  const { relayerFundAmount = '0' } = params as Partial<ActionParams<'CREATE_PRISM_FOR'>>;
  return BigInt(relayerFundAmount);
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
  // The fee comes out of the very credits that the relayer puts in.
  const fee = BigInt(record.params.relayerFee);
  return sponsorship(record) > policy.maxSponsorCredits + fee ? leave(now(), 'sponsor') : undefined;
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

/** Signatures that no key has made are a contract wallet's: with the code that vouches for them. */
async function readWallets({ readWallet }: CheckContext, signatures: readonly SignatureRef[]) {
  const wallets = await Promise.all(
    signatures.map(async ({ signer, nonce }) => (nonce === undefined ? await readWallet(signer) : undefined)),
  );
  const known = signatures.map((signature, index) => {
    const { code } = wallets[index] ?? {};
    return code === undefined ? signature : { ...signature, code };
  });
  return { signatures: known, hasUnknown: wallets.some((wallet) => wallet !== undefined && wallet.name === undefined) };
}

type Deal = Parameters<typeof coversGas>[0];

/** What a sponsored creation costs, its gas included: the fee is paid out of the relayer's own credits first. */
function netGift(
  { settings }: CheckContext,
  { record, deal, forwarder }: { record: RelayedRecord; deal: Deal; forwarder: ForwarderPolicy },
): bigint {
  const given = sponsorship(record);
  if (given === 0n) return 0n;
  const share = (BigInt(record.params.relayerFee) * forwarder.shareBps) / 10_000n;
  const gasCredits =
    ((deal.gas * deal.gasPrice + deal.extraWei) * (100n + BigInt(deal.marginPercent)) * settings.creditsPerEth) /
    (100n * 10n ** 18n);
  const net = given + gasCredits - share;
  return net > 0n ? net : 0n;
}

/** What a revert costs: a contract wallet may burn all of the gas; anything else that has changed since is found before most is used. */
function riskOf({ gas, gasPrice, extraWei }: Deal, signatures: readonly SignatureRef[]): bigint {
  const isWallet = signatures.some(({ code }) => code !== undefined);
  const early = EARLY_REVERT_GAS + gas / 4n;
  return (isWallet || gas < early ? gas : early) * gasPrice + extraWei;
}

/** A party to which enough was lost is left alone, until some of that is long enough ago. */
function checkBudget({ budgets, now }: CheckContext, party: Party, gift: bigint): Verdict | undefined {
  const exceeded = budgets.findExceeded(party, gift);
  if (exceeded === undefined) return undefined;
  const recheckAtMs = Math.max(exceeded.untilMs, now() + 1000);
  return { kind: 'leave', reason: 'budget', recheckAtMs };
}

/**
 * Checks one request against the chain: window, nonce, simulated outcome, fee.
 *
 * @returns what to do with it
 * @throws ChainError where the node does not answer
 */
export async function checkRequest(context: CheckContext, input: CheckInput): Promise<Verdict> {
  const { chain, policy, settings, now } = context;
  const { record, head, forwarder, seconds } = input;
  const nowMs = now();
  const standing = checkStanding(input, nowMs);
  if (standing !== undefined) return standing;
  if (head.gasPrice > settings.maxFeePerGas) return leave(nowMs, 'gasPrice');
  const { signatures, hasUnknown } = await readWallets(context, input.signatures);
  if (hasUnknown && !policy.unknownWallets) return leave(nowMs, 'wallet');
  const party = { requestId: record.requestId, signatures };
  const isLeftAlone = checkBudget(context, party, 0n);
  if (isLeftAlone !== undefined) return isLeftAlone;
  // A record holds action and params that go together.
  const { data } = encodeForwarderCall(record);
  const block = nextBlock(head, seconds);
  const simulated = readNothingDone(record, await chain.simulate(data, block));
  if ('reverted' in simulated) return leaveReverting(simulated.reverted, { nowMs, signatures });
  const { returned } = simulated;
  const extra = await chain.extraCost(data, simulated.gas);
  const gas = simulated.gas + extra.gas;
  if (gas > mostGas(head)) {
    const errorMessage = `it needs ${gas} gas, and a transaction may have ${mostGas(head)}`;
    return { kind: 'settle', signatures, errorMessage };
  }
  const credits = sumFees(record, returned);
  const feeWei = feeInWei({ credits, shareBps: forwarder.shareBps, creditsPerEth: settings.creditsPerEth });
  const marginPercent = hasUnknown
    ? Math.max(policy.unknownWalletMarginPercent, policy.feeMarginPercent)
    : policy.feeMarginPercent;
  const deal = { feeWei, gas, extraWei: extra.wei, marginPercent, gasPrice: head.gasPrice };
  if (!coversGas(deal)) return leave(nowMs, 'fee', { paysAtWei: highestPrice(deal) });
  if (signatures.some(({ code }) => code !== undefined)) {
    // Whether it would be carried out, a wallet may make depend on all that tells a simulation from a transaction.
    const terms = transactionTerms({ gas, head, ceiling: settings.maxFeePerGas });
    const rehearsed = readNothingDone(record, await chain.simulate(data, block, terms));
    if ('reverted' in rehearsed) return leaveReverting(rehearsed.reverted, { nowMs, signatures });
  }
  const gift = netGift(context, { record, deal, forwarder });
  if (gift > policy.maxSponsorCredits) return leave(nowMs, 'sponsor');
  return (
    checkBudget(context, party, gift) ?? {
      kind: 'ready',
      signatures,
      gas,
      feeWei: feeWei - extra.wei,
      stake: { wei: riskOf(deal, signatures), gift },
    }
  );
}

function leaveReverting(
  reverted: Hex | undefined,
  { nowMs, signatures }: { readonly nowMs: number; readonly signatures: readonly SignatureRef[] },
): Verdict {
  if (nameReason(reverted) === 'RequestNotYetOpen')
    return { kind: 'leave', reason: 'early', recheckAtMs: nowMs + 1000 };
  return leave(nowMs, 'reverts', { errorMessage: decodeReason(reverted), signatures });
}
