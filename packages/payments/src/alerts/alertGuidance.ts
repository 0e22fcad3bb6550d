/** A person's answer to an alert, and the section of docs/payments.md that says more. */
interface Guidance {
  readonly act: string;
  readonly section: string;
}

const HELD = 'A payment is held or refused';
const WAIT = 'Payments wait';
const STOPPED = 'Payments are stopped';
const MONITOR = 'The gas monitor';

/** By the alert's code; what is over has none. */
const GUIDANCE: Readonly<Record<string, Guidance>> = {
  ALERTS_SUMMED_UP: { act: 'read the log, which has each of them', section: 'Alerts, and what to do' },
  APPROVAL_LOW: { act: 'look at the log of the payment relayer, which approves before it buys', section: MONITOR },
  APPROVAL_MISSING: { act: 'look at the token and at the log; the approval is sent anew by itself', section: WAIT },
  COMPLETED_BY_ANOTHER_TRANSACTION: {
    act: 'put the transaction that paid into the record of the frontend',
    section: HELD,
  },
  COMPLETION_CONFLICT: { act: 'compare both transactions, and correct the record of the frontend', section: HELD },
  CONTRACTS_WRONG: { act: 'compare the addresses of the settings with the deployment', section: WAIT },
  EXCHANGE_BROKEN: {
    act: 'find out what the Exchange has done; once it is mended, run: prism payments resume --why "…"',
    section: STOPPED,
  },
  FRONTEND_SILENT: {
    act: 'see whether the frontend is up, and whether RELAYER_SECRET is its secret',
    section: WAIT,
  },
  GAS_BALANCE_LOW: { act: 'send ether to the address', section: MONITOR },
  GAS_PRICE_TOO_HIGH: { act: 'wait until gas costs less, or raise MAX_FEE_GWEI', section: WAIT },
  JOURNAL_FAILED: {
    act: 'see whether the disk of DATA_DIR is full, or the folder was moved; all goes on by itself once it can be written',
    section: WAIT,
  },
  KEY_USED_ELSEWHERE: {
    act: 'find the other process and stop it, then run: prism payments resume --why "…"',
    section: STOPPED,
  },
  NODE_SILENT: {
    act: 'see whether the node is up and at the head of the chain, or name another',
    section: WAIT,
  },
  OUTCOME_UNKNOWN: { act: 'find out on the chain whether it was paid, and only then release it', section: HELD },
  OUT_OF_ETHER: { act: 'send ether to the address of the instance', section: WAIT },
  OUT_OF_STABLECOINS: { act: 'send stablecoins to the address of the instance', section: WAIT },
  PAID_TWICE: { act: 'find out whose second transaction it is, and stop that instance', section: STOPPED },
  PAYMENTS_LATE: { act: 'run prism payments status, which names each of them and its reason', section: WAIT },
  PAYMENTS_WAIT_FOR_A_PERSON: { act: 'look at each, and release or close it', section: HELD },
  PAYMENT_GIVEN_BACK: { act: 'see to the reason; it is tried again by itself', section: WAIT },
  PAYMENT_LATE: { act: 'see to the reason; it is tried again by itself', section: WAIT },
  PAYMENT_OVER_LIMIT: { act: 'release it, which approves it, or wait for the next day', section: HELD },
  PAYMENT_RELAYER_NOT_WELL: {
    act: 'see its log and prism payments status, and start it again if it hangs',
    section: MONITOR,
  },
  PAYMENT_REFUSED: { act: "have the frontend's data corrected, and then release it", section: HELD },
  PAYMENT_REFUSED_LATE: { act: 'find out which values are right, and settle the difference by hand', section: HELD },
  PAYOUT_BY_STRANGER: {
    act: 'find out whose transaction it is: name the instance and pay through Payouts, or release the payment if it is forged',
    section: HELD,
  },
  PAYOUT_OF_ANOTHER_AMOUNT: { act: 'settle the difference by hand, then close the payment: --paid', section: HELD },
  PAYOUT_TO_ANOTHER: { act: 'find out which wallet is right before anything else is paid', section: HELD },
  PAYOUT_UNKNOWN: { act: 'look at the transaction; release the payment once it cannot come back', section: HELD },
  RATE_DEVIATES: { act: 'find out which rate is right, and correct the Exchange or EXCHANGE_RATE', section: WAIT },
  RPC_UNREACHABLE: { act: 'see whether the node is up; nothing is known of its accounts meanwhile', section: MONITOR },
  STABLECOIN_BALANCE_LOW: { act: 'send stablecoins to the address', section: MONITOR },
};

/** The codes of all that is alerted and not over. */
export const ALERT_CODES: readonly string[] = Object.keys(GUIDANCE);

/**
 * Says what to do about an alert, and where that is written.
 *
 * @returns a line; undefined for what is over
 * @see docs/specification.md ALERT-3
 */
export function alertGuidance(code: string): string | undefined {
  const guidance = GUIDANCE[code];
  if (guidance === undefined) return undefined;
  return `What to do: ${guidance.act}. See docs/payments.md, "${guidance.section}".`;
}
