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

/** What of a listing is to be refused, and why. */
export interface ListingFault {
  /** Absent: the entry does not even have one. */
  readonly paymentIntentId?: string;
  /** One sentence, without the bad value where it may be long. */
  readonly reason: string;
}

/** A listing, looked through. */
export interface CheckedListing {
  readonly payments: readonly ListedPayment[];
  readonly faults: readonly ListingFault[];
}

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
  // A lookup on a value of any type gives `undefined` where there is nothing.
  const fields = (typeof entry === 'object' && entry !== null ? entry : {}) as Readonly<Record<string, unknown>>;
  const id = idSchema.safeParse(fields.paymentIntentId);
  if (!id.success) return { reason: 'An entry has no paymentIntentId of 1 to 200 visible ASCII characters.' };
  const paymentIntentId = id.data;
  const reason = walletFault(fields.walletAddress, forbidden) ?? amountFault(fields.stablecoinAmount);
  if (reason !== undefined) return { paymentIntentId, reason };
  return {
    paymentIntentId,
    // Both have just been checked to be such strings.
    walletAddress: getAddress(fields.walletAddress as string),
    stablecoinAmount: BigInt(fields.stablecoinAmount as string),
  };
}

/**
 * Looks through what the frontend lists. An intent that is listed twice is refused: which entry is right, nobody here can know.
 *
 * @param entries - as they came
 * @param forbidden - addresses that are no user's wallet, EIP-55
 * @returns what can be paid, and what is refused
 * @see docs/specification.md PAY-2, PAY-8
 */
export function checkListing(entries: readonly unknown[], forbidden: readonly Address[]): CheckedListing {
  const checked = entries.map((entry) => checkEntry(entry, forbidden));
  const counts = new Map<string, number>();
  for (const { paymentIntentId } of checked) {
    if (paymentIntentId !== undefined) counts.set(paymentIntentId, (counts.get(paymentIntentId) ?? 0) + 1);
  }
  const doubled = new Set([...counts].filter(([, count]) => count > 1).map(([paymentIntentId]) => paymentIntentId));
  const isSingle = ({ paymentIntentId }: ListedPayment | ListingFault) =>
    paymentIntentId === undefined || !doubled.has(paymentIntentId);
  return {
    payments: checked.filter((item): item is ListedPayment => !('reason' in item) && isSingle(item)),
    faults: [
      ...checked.filter((item): item is ListingFault => 'reason' in item && isSingle(item)),
      ...[...doubled].map((paymentIntentId) => ({ paymentIntentId, reason: 'It is listed more than once.' })),
    ],
  };
}
