/** One kind of call, and what one such call makes the owner pay for. */
export interface CallCost {
  readonly what: string;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Of the call's body, in bytes. */
  readonly bodyBytes: number;
  /** Of its answer, in bytes. */
  readonly answerBytes: number;
}

/** The limits of one address. */
export interface AddressLimits {
  readonly callsInFiveMinutes: number;
  readonly writeBytesAMinute: number;
}

/** A kind of call, how often an address can make it in a day, and what that comes to. */
export interface WorstLine {
  readonly what: string;
  readonly calls: number;
  readonly usd: number;
}

/** US dollars, list prices of us-east-1. @see docs/operations-aws.md, "The bill" */
const PRICES = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  /** CloudFront 1.10 with its function, firewall 0.60, function 0.30, logs 0.65, each a million. */
  call: 2.65e-6,
  /** CloudFront's, of what leaves it. */
  answerByte: 0.085e-9,
} as const;

const MINUTES_A_DAY = 1440;
const FIVE = 5;

/** Price of one call, in US dollars. */
function priceOf({ writeUnits, readUnits, answerBytes }: CallCost): number {
  const units = writeUnits * PRICES.writeUnit + readUnits * PRICES.readUnit;
  return PRICES.call + units + answerBytes * PRICES.answerByte;
}

/**
 * Finds the dearest day that one address can cause within its limits: the dearest calls first, as many as its bytes allow, the
 * next dearest for the rest.
 */
export function findWorstDay(costs: readonly CallCost[], limits: AddressLimits): readonly WorstLine[] {
  let calls = (limits.callsInFiveMinutes / FIVE) * MINUTES_A_DAY;
  let bytes = limits.writeBytesAMinute * MINUTES_A_DAY;
  const lines: WorstLine[] = [];
  for (const cost of costs.toSorted((a, b) => priceOf(b) - priceOf(a))) {
    const affordable = cost.bodyBytes === 0 ? calls : Math.min(calls, Math.floor(bytes / cost.bodyBytes));
    calls -= affordable;
    bytes -= affordable * cost.bodyBytes;
    if (affordable > 0) lines.push({ what: cost.what, calls: affordable, usd: affordable * priceOf(cost) });
  }
  return lines;
}
