import { type Address, getAddress, isAddress, zeroAddress } from 'viem';
import * as z from 'zod/mini';

/** A listed payment that can be paid. */
export interface ListedPayment {
  readonly paymentIntentId: string;
  /** EIP-55. */
  readonly walletAddress: Address;
  /** Stablecoin base units. */
  readonly stablecoinAmount: bigint;
}

/** An entry of a listing to refuse, and why. */
export interface ListingFault {
  /** Absent: the entry does not even have one. */
  readonly paymentIntentId?: string;
  /** As it was listed; what is too long or of another type is left out. */
  readonly walletAddress?: string;
  /** Stablecoin base units, if it is an amount. */
  readonly stablecoinAmount?: bigint;
  /** One sentence, without the bad value if it may be long. */
  readonly reason: string;
}

/** A listing, looked through. */
export interface CheckedListing {
  readonly payments: readonly ListedPayment[];
  readonly faults: readonly ListingFault[];
}

/** Longest text that is kept of a wallet that is none. */
const MAX_WALLET_LENGTH = 100;
/** Longest intent id; Stripe's have 27 characters. */
const MAX_ID_LENGTH = 200;
/** A trillion dollars: no card pays it, and no rate makes it overflow. */
const ABSURD_AMOUNT = 10n ** 18n;

const idSchema = z.string().check(z.minLength(1), z.maxLength(MAX_ID_LENGTH), z.regex(/^[\x21-\x7e]+$/));
const amountSchema = z.string().check(z.regex(/^(0|[1-9]\d{0,77})$/));

function walletFault(value: unknown, forbidden: readonly Address[]): string | undefined {
  if (value === undefined || value === null || value === '') return 'It has no wallet address.';
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return 'Its wallet address is none.';
  if (!isAddress(value)) return 'The checksum of its wallet address is wrong.';
  if (getAddress(value) === zeroAddress) return 'Its wallet address is the zero address.';
  if (forbidden.includes(getAddress(value))) return 'Its wallet address is one of the relayers or contracts.';
  return undefined;
}

function amountFault(value: unknown): string | undefined {
  const amount = amountSchema.safeParse(value);
  if (!amount.success) return 'Its amount is no decimal string of stablecoin base units.';
  if (amount.data === '0') return 'Its amount is zero.';
  if (BigInt(amount.data) > ABSURD_AMOUNT) return 'Its amount is absurd.';
  return undefined;
}

function checkEntry(entry: unknown, forbidden: readonly Address[]): ListedPayment | ListingFault {
  // A lookup on a value of any type gives `undefined` if there is nothing.
  const fields = (typeof entry === 'object' && entry !== null ? entry : {}) as Readonly<Record<string, unknown>>;
  const id = idSchema.safeParse(fields.paymentIntentId);
  if (!id.success) return { reason: 'An entry has no paymentIntentId of 1 to 200 visible ASCII characters.' };
  const paymentIntentId = id.data;
  const reason = walletFault(fields.walletAddress, forbidden) ?? amountFault(fields.stablecoinAmount);
  if (reason !== undefined) {
    const { walletAddress, stablecoinAmount } = fields;
    const isWallet = typeof walletAddress === 'string' && walletAddress.length <= MAX_WALLET_LENGTH;
    const isAmount = amountFault(stablecoinAmount) === undefined;
    return {
      paymentIntentId,
      reason,
      ...(isWallet && { walletAddress: walletAddress.replaceAll(/[^\x20-\x7e]/g, '?') }),
      // It has just been checked to be such a string.
      ...(isAmount && { stablecoinAmount: BigInt(stablecoinAmount as string) }),
    };
  }
  return {
    paymentIntentId,
    // Both have just been checked to be such strings.
    walletAddress: getAddress(fields.walletAddress as string),
    stablecoinAmount: BigInt(fields.stablecoinAmount as string),
  };
}

/** The facts that two entries of one id must share. */
const describe = (item: ListedPayment | ListingFault) =>
  'reason' in item ? `${item.reason} ${item.walletAddress}` : `${item.walletAddress} ${item.stablecoinAmount}`;

/**
 * Looks through what the frontend lists. Entries that are the same are one; of an intent that is listed in two ways nobody here can know which
 * is right, and it is refused.
 *
 * @param forbidden - addresses that are no user's wallet, EIP-55
 * @returns what can be paid, and what is refused
 * @see docs/specification.md PAY-2, PAY-8
 */
export function checkListing(entries: readonly unknown[], forbidden: readonly Address[]): CheckedListing {
  const checked = entries.map((entry) => checkEntry(entry, forbidden));
  const payments: ListedPayment[] = [];
  const faults: ListingFault[] = [];
  for (const [paymentIntentId, items] of Map.groupBy(checked, (item) => item.paymentIntentId)) {
    const [first] = items;
    const isTwofold = paymentIntentId !== undefined && new Set(items.map(describe)).size > 1;
    if (isTwofold) faults.push({ paymentIntentId, reason: 'It is listed more than once, and not alike.' });
    else if (first !== undefined && 'reason' in first) faults.push(first);
    else if (first !== undefined) payments.push(first);
  }
  return { payments, faults };
}
