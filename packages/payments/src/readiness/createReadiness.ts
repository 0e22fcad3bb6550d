import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Logger } from '@prism-gateway/runtime/logs';
import { type Sender, SenderError } from '@prism-gateway/sender';
import { type Address, formatEther, formatGwei, maxUint256, type PublicClient } from 'viem';
import { encodeApproval } from '../chain/marks.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { ListedPayment } from '../payments/checkListing.ts';
import { computeCreditsOwed } from '../payments/computeCredits.ts';
import { formatStablecoins } from '../payments/formatAmount.ts';
import type { RelayerConfig } from '../relayerConfig.ts';
import { StepError } from '../StepError.ts';
import type { Exchange } from './createExchange.ts';
import { keepFresh } from './keepFresh.ts';
import { readStanding, verifyContracts } from './readContracts.ts';
import type { Purse } from './readPurse.ts';

/** What readiness is judged by. */
export interface ReadinessParts {
  readonly config: RelayerConfig;
  readonly client: PublicClient;
  readonly exchange: Exchange;
  readonly sender: Sender;
  readonly journal: PaymentJournal;
  readonly log: Logger;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Causes for which an instance claims nothing, or not everything. */
export const OBSTACLES = [
  'APPROVAL_MISSING',
  'CONTRACTS_WRONG',
  'GAS_PRICE_TOO_HIGH',
  'OUT_OF_ETHER',
  'OUT_OF_STABLECOINS',
  'RATE_DEVIATES',
] as const;

/** Why payments wait. */
export interface Obstacle {
  readonly code: (typeof OBSTACLES)[number];
  /** For people: one sentence. */
  readonly text: string;
}

/** What of a listing an instance can pay. */
export interface Prospect {
  readonly payable: readonly ListedPayment[];
  readonly obstacles: readonly Obstacle[];
}

/** What must hold before a payment is begun; each answer serves all payments for some seconds. */
export interface Readiness {
  /**
   * Sorts out what this instance can pay now, in the order of the list.
   *
   * @param wanted - would be claimed
   * @throws viem's errors
   */
  judge(wanted: readonly ListedPayment[]): Promise<Prospect>;
  /**
   * Checks that gas costs less than it may.
   *
   * @throws StepError `GAS_PRICE_TOO_HIGH`; viem's errors
   * @see docs/specification.md PAY-6
   */
  checkGasPrice(): Promise<void>;
  /**
   * Sees to it that Exchange and Payouts have unlimited approvals; approves at most once at a time.
   *
   * @throws StepError `APPROVAL_MISSING`; SenderError; viem's errors
   */
  ensureApproval(): Promise<void>;
  /**
   * Checks that the Exchange has kept its word so far.
   *
   * @throws StepError `CONTRACTS_WRONG` until a person resumes
   */
  checkExchange(): void;
  /**
   * Reads the rate of now.
   *
   * @returns credits for one stablecoin
   * @throws StepError `RATE_DEVIATES` where it is too far from the expected one; viem's errors
   */
  readRate(): Promise<bigint>;
}

/** Names the journal's fact that the Exchange took more than was agreed, or gave less. */
export const BROKEN_FACT = 'exchange: broke its word';

/** Tokens that count an unlimited approval down never get near this. */
const UNLIMITED = maxUint256 / 2n;
/** For how long an answer serves, in milliseconds. */
const FRESH_MS = 5000;
/** For how long contracts are believed to be the right ones, in milliseconds. */
const VERIFIED_MS = 600_000;
/** A buy and a payout use some 170,000; a first transfer, a proxied token or an L2 uses more. */
const GAS_OF_PAYMENT = 400_000n;
const ALL_BPS = 10_000n;

/** One approval that must be there. */
interface Approval {
  readonly token: Address;
  readonly spender: Address;
  /** Names its intents at the sender. */
  readonly name: string;
}

/** Sends one approval. Each that came to an end makes room for another, should it ever be taken back. */
async function sendApproval(parts: ReadinessParts, approval: Approval, amount?: bigint): Promise<void> {
  const { journal, sender, signal, log } = parts;
  const { token, spender, name } = approval;
  const fact = name === 'approve' ? 'approvals' : `approvals: ${name}`;
  const count = Number(journal.fact(fact) ?? '0') + 1;
  const call = encodeApproval({ token, spender, ...(amount === undefined ? {} : { amount }) });
  log.info({ token, spender, amount: amount ?? 'unlimited' }, 'approving');
  try {
    const sent = await sender.send(`${name}:${count}`, call, { confirmations: 1, signal, label: 'approval' });
    journal.setFact(fact, `${count}`);
    if (sent.status === 'success') return;
  } catch (error) {
    if (error instanceof SenderError && !['CLOSED', 'JOURNAL_FAILED'].includes(error.code))
      journal.setFact(fact, `${count}`);
    throw error;
  }
  throw new StepError('APPROVAL_MISSING', `The approval of ${spender} was reverted; look at the token ${token}.`);
}

/** What sees to approvals. */
interface Approvals {
  /** Sends what is missing, and nobody waits for it. @throws StepError `APPROVAL_MISSING` where that failed the last time */
  begin(): void;
  /** Sends what is missing, and waits for it. */
  ensure(): Promise<void>;
}

function createApprovals(parts: ReadinessParts): Approvals {
  const { client, config, now, log } = parts;
  const { stablecoin, exchange, creditToken, payouts, self } = config;
  const approvals: readonly Approval[] = [
    { token: stablecoin, spender: exchange, name: 'approve' },
    ...(payouts === undefined ? [] : [{ token: creditToken, spender: payouts, name: 'approve payouts' }]),
  ];
  let failure: unknown;

  const readAllowance = ({ token, spender }: Approval) =>
    client.readContract({ address: token, abi: creditTokenAbi, functionName: 'allowance', args: [self, spender] });

  const ensure = keepFresh({ now, freshMs: FRESH_MS }, async () => {
    for (const approval of approvals) {
      const allowance = await readAllowance(approval);
      if (allowance >= UNLIMITED) continue;
      // Some tokens change no allowance but from zero.
      if (allowance > 0n) await sendApproval(parts, approval, 0n);
      await sendApproval(parts, approval);
    }
  });

  return {
    ensure,
    begin() {
      const failed = failure;
      failure = undefined;
      ensure().catch((error: unknown) => {
        failure = error;
        log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'approval failed');
      });
      if (failed !== undefined)
        throw new StepError('APPROVAL_MISSING', failed instanceof Error ? failed.message : 'An approval failed.');
    },
  };
}

/** Takes what payments under way will use out of a purse. */
function subtractCommitted(journal: PaymentJournal, purse: Purse): Purse {
  let { stablecoins, credits } = purse;
  for (const { state, creditsOwed = 0n, stablecoinAmount } of journal.list([
    'claimed',
    'buying',
    'bought',
    'transferring',
  ])) {
    credits -= creditsOwed;
    // Before the buy is mined its stablecoins are still there, and its credits are not.
    if (state !== 'claimed' && state !== 'buying') continue;
    stablecoins -= stablecoinAmount;
    credits += creditsOwed;
  }
  return { ...purse, stablecoins, credits };
}

/** Gives each payment in turn what is there. */
function allot(wanted: readonly ListedPayment[], purse: Purse, rate: bigint) {
  let { stablecoins, credits } = purse;
  const payable: ListedPayment[] = [];
  const waiting: ListedPayment[] = [];
  for (const listed of wanted) {
    const owed = computeCreditsOwed(listed.stablecoinAmount, rate);
    if (credits >= owed) credits -= owed;
    else if (stablecoins >= listed.stablecoinAmount) stablecoins -= listed.stablecoinAmount;
    else {
      waiting.push(listed);
      continue;
    }
    payable.push(listed);
  }
  return { payable, waiting };
}

/**
 * Creates the judge of readiness.
 *
 * @param parts - chain, sender and journal
 * @returns the judge, which has asked nothing yet
 */
export function createReadiness(parts: ReadinessParts): Readiness {
  const { config, client, exchange, journal, now } = parts;
  const { expectedRate, maxRateDeviationBps, maxGasPrice, self } = config;
  const readGasPrice = keepFresh({ now, freshMs: FRESH_MS }, () => client.getGasPrice());
  const approvals = createApprovals(parts);
  const readContractFaults = keepFresh({ now, freshMs: VERIFIED_MS }, async () => {
    const faults = await verifyContracts(client, config);
    if (faults.length > 0) throw new StepError('CONTRACTS_WRONG', faults.join(' '));
  });
  const readCurrentRate = keepFresh({ now, freshMs: 0 }, exchange.readRate);

  async function checkGasPrice(): Promise<void> {
    const price = await readGasPrice();
    if (price < maxGasPrice) return;
    const [is, limit] = [formatGwei(price), formatGwei(maxGasPrice)];
    throw new StepError('GAS_PRICE_TOO_HIGH', `Gas costs ${is} gwei, and must cost less than ${limit}.`);
  }

  function checkRate(rate: bigint): bigint {
    const distance = rate > expectedRate ? rate - expectedRate : expectedRate - rate;
    if (rate > 0n && distance * ALL_BPS <= expectedRate * BigInt(maxRateDeviationBps)) return rate;
    const text = `The Exchange gives ${rate} credits for one stablecoin; EXCHANGE_RATE is ${expectedRate}, and it may differ by ${maxRateDeviationBps} basis points.`;
    throw new StepError('RATE_DEVIATES', text);
  }

  async function checkEther(inFlight: number, ether: bigint): Promise<void> {
    const cost = (await readGasPrice()) * GAS_OF_PAYMENT * BigInt(inFlight + 1);
    if (ether >= cost) return;
    throw new StepError(
      'OUT_OF_ETHER',
      `${self} has ${formatEther(ether)} ETH, and the next payment may take ${formatEther(cost)}.`,
    );
  }

  function checkExchange(): void {
    const reason = journal.fact(BROKEN_FACT);
    if (reason === undefined) return;
    throw new StepError('CONTRACTS_WRONG', `${reason} Once the Exchange is mended, run: prism payments resume.`);
  }

  async function allotAll(wanted: readonly ListedPayment[]): Promise<Prospect> {
    checkExchange();
    await readContractFaults();
    await checkGasPrice();
    const { purse, rate, allowances } = await readStanding(client, config);
    checkRate(rate);
    await checkEther(journal.list(['claimed', 'buying', 'bought', 'transferring']).length, purse.ether);
    if (allowances.some((allowance) => allowance < UNLIMITED)) {
      approvals.begin();
      return { payable: [], obstacles: [] };
    }
    const { payable, waiting } = allot(wanted, subtractCommitted(journal, purse), rate);
    if (waiting.length === 0) return { payable, obstacles: [] };
    const sum = waiting.reduce((all, { stablecoinAmount }) => all + stablecoinAmount, 0n);
    const text = `It has ${formatStablecoins(purse.stablecoins)}, and ${waiting.length} payments wait for ${formatStablecoins(sum)}.`;
    return { payable, obstacles: [{ code: 'OUT_OF_STABLECOINS', text }] };
  }

  return {
    checkExchange,
    checkGasPrice,
    ensureApproval: approvals.ensure,
    readRate: async () => checkRate(await readCurrentRate()),
    async judge(wanted) {
      try {
        return await allotAll(wanted);
      } catch (error) {
        const code = OBSTACLES.find((name) => error instanceof StepError && error.code === name);
        if (code === undefined || !(error instanceof Error)) throw error;
        return { payable: [], obstacles: [{ code, text: error.message }] };
      }
    },
  };
}
