import { formatEther, formatGwei } from 'viem';
import { computeCreditsOwed } from '../amounts/computeCredits.ts';
import { formatStablecoins } from '../amounts/formatAmount.ts';
import type { ListedPayment } from '../frontend/checkListing.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { StepError } from '../StepError.ts';
import { type ApprovalParts, createApprovals, UNLIMITED } from './createApprovals.ts';
import type { Exchange } from './createExchange.ts';
import { keepFresh } from './keepFresh.ts';
import type { Balances } from './readAccountBalances.ts';
import { readContractState, verifyContracts } from './readContracts.ts';

/** The parts that readiness is evaluated from. */
export interface ReadinessParts extends ApprovalParts {
  readonly exchange: Exchange;
}

/** Causes for which an instance claims nothing, or not everything, in the order in which they are looked at. */
export const OBSTACLES = [
  'CONTRACTS_WRONG',
  'GAS_PRICE_TOO_HIGH',
  'RATE_DEVIATES',
  'OUT_OF_ETHER',
  'APPROVAL_MISSING',
  'OUT_OF_STABLECOINS',
] as const;

/** Why payments wait. */
export interface Obstacle {
  readonly code: (typeof OBSTACLES)[number];
  /** For people: one sentence. */
  readonly text: string;
}

/** The payments of a listing that an instance can pay. */
export interface Prospect {
  readonly payable: readonly ListedPayment[];
  readonly obstacles: readonly Obstacle[];
  /** Of these nobody is to be alerted: nobody has looked, or they are over by so little that they may be back at once. */
  readonly undecided: readonly Obstacle['code'][];
}

/** Conditions for beginning a payment; each answer serves all payments for some seconds. */
export interface Readiness {
  /**
   * Sorts out what this instance can pay now, in the order of the list.
   *
   * @throws viem's errors
   */
  evaluate(wanted: readonly ListedPayment[]): Promise<Prospect>;
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
   * Checks that the contracts are what the settings say, and let this instance pay.
   *
   * @throws StepError `CONTRACTS_WRONG`; viem's errors
   */
  checkContracts(): Promise<void>;
  /** A payout was refused: the contracts are looked at anew. */
  recheckContracts(): void;
  /**
   * Checks that the Exchange has kept its word so far.
   *
   * @throws StepError `CONTRACTS_WRONG` until a person resumes
   */
  checkExchange(): void;
  /**
   * Reads the rate of now.
   *
   * @throws StepError `RATE_DEVIATES` if it is too far from the expected one; viem's errors
   */
  readRate(): Promise<bigint>;
}

/** Names the journal's fact that the Exchange took more than was agreed, or gave less. */
export const BROKEN_FACT = 'exchange: broke its word';

/** For how long an answer serves, in milliseconds. */
const FRESH_MS = 5000;
/** For how long contracts are believed to be the right ones, in milliseconds. */
const VERIFIED_MS = 600_000;
/** A buy and a payout use some 170,000; a first transfer, a proxied token or an L2 uses more. */
const GAS_OF_PAYMENT = 400_000n;
const ALL_BPS = 10_000n;
/** A limit counts as kept for good with a tenth to spare, in basis points. */
const CALM_BPS = 9000n;

/** Takes what payments under way will use out of balances. */
function subtractCommitted(journal: PaymentJournal, balances: Balances): Balances {
  let { stablecoins, credits } = balances;
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
  return { ...balances, stablecoins, credits };
}

/** Gives each payment in turn what is there. */
function allot(wanted: readonly ListedPayment[], balances: Balances, rate: bigint) {
  let { stablecoins, credits } = balances;
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
 * Creates the checks of readiness.
 *
 * @returns the checks, which has asked nothing yet
 */
export function createReadiness(parts: ReadinessParts): Readiness {
  const { config, client, exchange, journal, now } = parts;
  const { expectedRate, maxRateDeviationBps, maxGasPrice, self } = config;
  const readGasPrice = keepFresh({ now, freshMs: FRESH_MS }, () => client.getGasPrice());
  const approvals = createApprovals(parts);
  const createContractCheck = () =>
    keepFresh({ now, freshMs: VERIFIED_MS }, async () => {
      const faults = await verifyContracts(parts);
      if (faults.length > 0) throw new StepError('CONTRACTS_WRONG', faults.join(' '));
    });
  let checkContracts = createContractCheck();
  const readCurrentRate = keepFresh({ now, freshMs: 0 }, exchange.readRate);

  /** @returns whether there is room for it to rise */
  async function checkGasPrice(): Promise<boolean> {
    const price = await readGasPrice();
    if (price < maxGasPrice) return price * ALL_BPS < maxGasPrice * CALM_BPS;
    const [is, limit] = [formatGwei(price), formatGwei(maxGasPrice)];
    throw new StepError('GAS_PRICE_TOO_HIGH', `Gas costs ${is} gwei, and must cost less than ${limit}.`);
  }

  function checkRate(rate: bigint): bigint {
    const distance = rate > expectedRate ? rate - expectedRate : expectedRate - rate;
    if (rate > 0n && distance * ALL_BPS <= expectedRate * BigInt(maxRateDeviationBps)) return rate;
    const text = `The Exchange gives ${rate} credits for one stablecoin; EXCHANGE_RATE is ${expectedRate}, and it may differ by ${maxRateDeviationBps} basis points.`;
    throw new StepError('RATE_DEVIATES', text);
  }

  async function checkEther(inFlight: number, ether: bigint): Promise<boolean> {
    const cost = (await readGasPrice()) * GAS_OF_PAYMENT * BigInt(inFlight + 1);
    if (ether >= cost) return ether * CALM_BPS >= cost * ALL_BPS;
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
    await checkContracts();
    const isGasCalm = await checkGasPrice();
    const { balances, rate, allowances } = await readContractState(client, config);
    checkRate(rate);
    const isEtherCalm = await checkEther(
      journal.list(['claimed', 'buying', 'bought', 'transferring']).length,
      balances.ether,
    );
    const undecided: Obstacle['code'][] = [
      ...(isGasCalm ? [] : ['GAS_PRICE_TOO_HIGH' as const]),
      ...(isEtherCalm ? [] : ['OUT_OF_ETHER' as const]),
    ];
    if (allowances.some((allowance) => allowance < UNLIMITED)) {
      approvals.begin();
      return { payable: [], obstacles: [], undecided };
    }
    const { payable, waiting } = allot(wanted, subtractCommitted(journal, balances), rate);
    if (waiting.length === 0) return { payable, obstacles: [], undecided };
    const sum = waiting.reduce((all, { stablecoinAmount }) => all + stablecoinAmount, 0n);
    const text = `It has ${formatStablecoins(balances.stablecoins)}, and ${waiting.length} payments wait for ${formatStablecoins(sum)}.`;
    return { payable, obstacles: [{ code: 'OUT_OF_STABLECOINS', text }], undecided };
  }

  return {
    checkExchange,
    checkGasPrice: async () => void (await checkGasPrice()),
    checkContracts: () => checkContracts(),
    recheckContracts() {
      checkContracts = createContractCheck();
    },
    ensureApproval: approvals.ensure,
    readRate: async () => checkRate(await readCurrentRate()),
    async evaluate(wanted) {
      try {
        return await allotAll(wanted);
      } catch (error) {
        const code = OBSTACLES.find((name) => error instanceof StepError && error.code === name);
        if (code === undefined || !(error instanceof Error)) throw error;
        const undecided = OBSTACLES.slice(OBSTACLES.indexOf(code) + 1);
        return { payable: [], obstacles: [{ code, text: error.message }], undecided };
      }
    },
  };
}
