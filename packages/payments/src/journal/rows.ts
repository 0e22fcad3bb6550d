import type { Address, Hash, Hex } from 'viem';
import type { Attempt, AttemptKind, MinedAttempt, Payment, PaymentMove } from './payment.ts';
import type { PaymentState } from './paymentState.ts';

/** A row as SQLite gives it. */
export type Row = Readonly<Record<string, unknown>>;

/*
 * Casts: only this package writes these tables, from values of these very types.
 */

const MINED_FIELDS = ['blockNumber', 'gasUsed', 'gasPrice', 'stablecoins', 'credits'] as const;

function readMined(text: string): MinedAttempt {
  const fields = JSON.parse(text) as Readonly<Record<keyof MinedAttempt, string>>;
  const [blockNumber = 0n, gasUsed = 0n, gasPrice = 0n, stablecoins = 0n, credits = 0n] = MINED_FIELDS.map((name) =>
    BigInt(fields[name]),
  );
  return { blockNumber, gasUsed, gasPrice, stablecoins, credits };
}

/** Writes what a mined transaction has cost and moved, for the column `mined`. */
export function writeMined(mined: MinedAttempt): string {
  return JSON.stringify(Object.fromEntries(MINED_FIELDS.map((name) => [name, `${mined[name]}`])));
}

/** Reads a row of `payments`. */
export function readPayment(row: Row): Payment {
  return {
    paymentIntentId: `${row.payment_intent_id}`,
    walletAddress: row.wallet_address as Address,
    stablecoinAmount: BigInt(`${row.stablecoin_amount}`),
    state: row.state as PaymentState,
    ...(row.reason === null ? {} : { reason: `${row.reason}` }),
    ...(row.credits_owed === null ? {} : { creditsOwed: BigInt(`${row.credits_owed}`) }),
    ...(row.rate === null ? {} : { rate: BigInt(`${row.rate}`) }),
    attempts: Number(row.attempts),
    ...(row.tx_hash === null ? {} : { txHash: row.tx_hash as Hash }),
    ...(row.paid_by === null ? {} : { paidBy: row.paid_by as Address }),
    ...(row.counted_day === null ? {} : { countedDay: `${row.counted_day}` }),
    seenAtMs: Number(row.seen_at_ms),
    updatedAtMs: Number(row.updated_at_ms),
  };
}

/** Reads a row of `attempts`. */
export function readAttempt(row: Row): Attempt {
  return {
    intentId: `${row.intent_id}`,
    paymentIntentId: `${row.payment_intent_id}`,
    kind: row.kind as AttemptKind,
    to: row.to_address as Address,
    data: row.data as Hex,
    state: row.state as Attempt['state'],
    ...(row.tx_hash === null ? {} : { txHash: row.tx_hash as Hash }),
    ...(row.mined === null ? {} : { mined: readMined(`${row.mined}`) }),
  };
}

/** Reads a row of `moves`. */
export function readMove(row: Row): PaymentMove {
  return {
    paymentIntentId: `${row.payment_intent_id}`,
    atMs: Number(row.at_ms),
    from: row.from_state === null ? undefined : (row.from_state as PaymentState),
    to: row.to_state as PaymentState,
    ...(row.reason === null ? {} : { reason: `${row.reason}` }),
  };
}
