import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { Simulated } from '@prism-gateway/node/rpc';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import type { Party } from '../budgets/createBudgets.ts';
import { type BlockHead, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { RelayerContext } from '../lifecycle/context.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/states.ts';
import { coversGas, feeInWei, highestPrice, mostGas, readBatchResults, sumFees, transactionTerms } from './fee.ts';
import { findExpiryAt, latestTimestamp } from './findNonce.ts';
import type { Leave, LeaveReason, Verdict } from './leaveReasons.ts';
import { readWallet } from './readWallet.ts';

/** Gas of a request that is refused for its nonce, without its calldata, which is at most a quarter of what it needs in all. */
const EARLY_REVERT_GAS = 40_000n;
/** How often it is looked at whether what is left for a budget is carried out already, in milliseconds: to report that costs nothing. */
const LOOK_ANYWAY_MS = 3_600_000;

/** The input of a check. */
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

function leave(reason: LeaveReason, facts: Omit<Leave, 'kind' | 'reason'> = {}): Verdict {
  return { kind: 'leave', reason, ...facts };
}

/** Credits that a request asks the relayer to put into a new prism; only creations do. */
function sponsorship({ params }: Pick<RelayedRecord, 'params'>): bigint {
  const { relayerFundAmount = '0' } = params as Partial<ActionParams<'CREATE_PRISM_FOR'>>;
  return BigInt(relayerFundAmount);
}

/**
 * Evaluates action and sponsorship: what needs no chain.
 *
 * @returns undefined if nothing speaks against the request
 */
export function checkPolicy({ policy }: RelayerContext, record: RelayedRecord): Verdict | undefined {
  if (!policy.actions.has(record.action)) return leave('action');
  // The fee comes out of the very credits that the relayer puts in.
  const fee = BigInt(record.params.relayerFee);
  return sponsorship(record) > policy.maxSponsorCredits + fee ? leave('sponsor') : undefined;
}

function checkAge({ record, seconds, forwarder, signatures }: CheckInput): Verdict | undefined {
  const errorMessage = findExpiryAt(record, { maxAge: forwarder.maxAge, seconds });
  return errorMessage === undefined ? undefined : { kind: 'hopeless', signatures, errorMessage };
}

/** The bare timestamp is looked at as well: it may lie in the future. */
function checkOpening({ record, seconds, forwarder }: CheckInput, nowMs: number): Verdict | undefined {
  const openAt = latestTimestamp(record) + (forwarder.isOfficial ? 0n : forwarder.priorityWindow);
  // A second later, since the simulation sees the time of a block.
  if (openAt <= seconds) return undefined;
  return leave('early', { notBeforeMs: nowMs + Number(openAt - seconds) * 1000 });
}

/** The nonces that a request was signed for, as far as they are known, and those on the chain. */
type NonceInput = Pick<CheckInput, 'signatures' | 'nonces'>;

/** How each signature stands to the nonces on the chain; in entry order: a signer may appear twice. */
function compareNonces({ signatures, nonces }: NonceInput) {
  const next = new Map(nonces);
  return signatures
    .filter(({ nonce }) => nonce !== undefined)
    .map(({ signer, nonce = 0n }) => {
      const current = next.get(signer) ?? 0n;
      if (nonce === current) next.set(signer, current + 1n);
      return { signer, nonce, current };
    });
}

/** Whether all nonces that it was signed for are used: somebody has carried it out, or another one with them. */
export function checkUsed(input: NonceInput): Verdict | undefined {
  const { signatures } = input;
  const order = compareNonces(input);
  if (order.length < signatures.length || !order.every(({ nonce, current }) => nonce < current)) return undefined;
  return { kind: 'hopeless', signatures, errorMessage: 'the forwarder nonce it was signed for is used already' };
}

/** An entry of a batch that is not in order would fail, too. */
export function checkTurn(input: NonceInput): Leave | undefined {
  const { signatures } = input;
  const ahead = compareNonces(input).find(({ nonce, current }) => nonce > current);
  if (ahead === undefined) return undefined;
  const { signer, nonce, current } = ahead;
  const errorMessage = `out of nonce order: signed for forwarder nonce ${nonce} of ${signer}, whose next one is ${current}`;
  return { kind: 'leave', reason: 'nonceAhead', errorMessage, signatures, gap: { signer, nonce: current } };
}

/**
 * Checks age, nonce and price in order: what is executed already is so whatever its age and price, and what is too old will never be in its
 * turn.
 */
function checkOrder(input: CheckInput, nowMs: number): Verdict | undefined {
  return checkUsed(input) ?? checkAge(input) ?? checkTurn(input) ?? checkOpening(input, nowMs);
}

/** A multi-user batch reverts for no entry; if none would be written, it is worth as little, and the first one's reason stands for all. */
export function readNothingDone(record: RelayedRecord, simulated: Simulated): Simulated {
  if ('reverted' in simulated || record.action !== 'BATCH_MULTI_USER_WRITE_DATA') return simulated;
  // Action and params go together in a record.
  const { requests } = record.params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  const results = readBatchResults(simulated.returned, requests.length);
  return results.some(({ success }) => success) ? simulated : { reverted: results[0]?.reason };
}

/** Signatures that no key has made are a contract wallet's: with the code that vouches for them. */
async function readWallets({ chain }: RelayerContext, signatures: readonly SignatureRef[]) {
  const wallets = await Promise.all(
    signatures.map(async ({ signer, nonce }) =>
      nonce === undefined ? await readWallet(chain.reader, signer) : undefined,
    ),
  );
  const known = signatures.map((signature, index) => {
    const { code } = wallets[index] ?? {};
    return code === undefined ? signature : { ...signature, code };
  });
  return { signatures: known, hasUnknown: wallets.some((wallet) => wallet !== undefined && wallet.name === undefined) };
}

type Deal = Parameters<typeof coversGas>[0];

/** The cost of a sponsored creation, its gas included: the fee is paid out of the relayer's own credits first. */
function netGift(
  { policy }: RelayerContext,
  { record, deal, forwarder }: { record: RelayedRecord; deal: Deal; forwarder: ForwarderPolicy },
): bigint {
  const given = sponsorship(record);
  if (given === 0n) return 0n;
  const share = (BigInt(record.params.relayerFee) * forwarder.shareBps) / 10_000n;
  const gasCredits =
    ((deal.gas * deal.gasPrice + deal.extraWei) * (100n + BigInt(deal.marginPercent)) * policy.creditsPerEth) /
    (100n * 10n ** 18n);
  const net = given + gasCredits - share;
  return net > 0n ? net : 0n;
}

/** The cost of a revert: a contract wallet may burn all of the gas; anything else that has changed since is found before most is used. */
function riskOf({ gas, gasPrice, extraWei }: Deal, signatures: readonly SignatureRef[]): bigint {
  const isWallet = signatures.some(({ code }) => code !== undefined);
  const early = EARLY_REVERT_GAS + gas / 4n;
  return (isWallet || gas < early ? gas : early) * gasPrice + extraWei;
}

/** A party to which enough was lost is left alone, until some of that is long enough ago. Somebody else may carry its request out before. */
function checkBudget({ inFlight, now }: RelayerContext, party: Party, gift: bigint): Verdict | undefined {
  const exceeded = inFlight.budgets.findExceeded(party, gift);
  return exceeded && leave('budget', { notBeforeMs: Math.min(exceeded.untilMs, now() + LOOK_ANYWAY_MS) });
}

/**
 * Checks one request against the chain: window, nonce, simulated outcome, fee.
 *
 * @returns what to do with it
 * @throws ChainError if the node does not answer
 */
export async function checkRequest(context: RelayerContext, input: CheckInput): Promise<Verdict> {
  const { policy, now } = context;
  const { reader } = context.chain;
  const { record, head, forwarder, seconds } = input;
  const nowMs = now();
  const order = checkOrder(input, nowMs);
  if (order !== undefined) return order;
  if (head.gasPrice > policy.maxFeePerGas) return leave('gasPrice');
  const { signatures, hasUnknown } = await readWallets(context, input.signatures);
  if (hasUnknown && !policy.unknownWallets) return leave('wallet');
  const party = { requestId: record.requestId, signatures };
  const isLeftAlone = checkBudget(context, party, 0n);
  if (isLeftAlone !== undefined) return isLeftAlone;
  // A record holds action and params that go together.
  const { data } = encodeForwarderCall(record);
  const block = nextBlock(head, seconds);
  const simulated = readNothingDone(record, await reader.simulate(data, block));
  if ('reverted' in simulated) return leaveReverting(simulated.reverted, { nowMs, signatures });
  const { returned } = simulated;
  const extra = await reader.extraCost(data, simulated.gas);
  const gas = simulated.gas + extra.gas;
  if (gas > mostGas(head)) {
    const errorMessage = `it needs ${gas} gas, and a transaction may have ${mostGas(head)}`;
    return { kind: 'hopeless', signatures, errorMessage };
  }
  const credits = sumFees(record, returned);
  const feeWei = feeInWei({ credits, shareBps: forwarder.shareBps, creditsPerEth: policy.creditsPerEth });
  const marginPercent = hasUnknown
    ? Math.max(policy.unknownWalletMarginPercent, policy.feeMarginPercent)
    : policy.feeMarginPercent;
  const deal = { feeWei, gas, extraWei: extra.wei, marginPercent, gasPrice: head.gasPrice };
  if (!coversGas(deal)) return leave('fee', { paysAtWei: highestPrice(deal) });
  if (signatures.some(({ code }) => code !== undefined)) {
    // Whether it would be carried out, a wallet may make depend on all that distinguishes a simulation from a transaction.
    const terms = transactionTerms({ gas, head, ceiling: policy.maxFeePerGas });
    const paid = readNothingDone(record, await reader.simulate(data, block, terms));
    if ('reverted' in paid) return leaveReverting(paid.reverted, { nowMs, signatures });
  }
  const gift = netGift(context, { record, deal, forwarder });
  if (gift > policy.maxSponsorCredits) return leave('sponsor');
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
  const name = nameReason(reverted);
  if (name === 'RequestNotYetOpen') return leave('early', { notBeforeMs: nowMs + 1000 });
  // A contract wallet may come to take it; and a node that is behind says so of what is in its turn.
  const isForeign = signatures.every(({ code, nonce }) => code === undefined && nonce === undefined);
  const isForged = name === 'InvalidSignature' && isForeign;
  return leave(isForged ? 'signature' : 'reverts', { errorMessage: decodeReason(reverted), signatures });
}
