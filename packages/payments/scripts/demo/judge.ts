import { type Address, formatUnits, type Hash } from 'viem';
import { markPayout } from '../../src/chain/marks.ts';
import { computeCreditsOwed } from '../../src/payments/computeCredits.ts';
import type { PaymentsRig } from './startPaymentsRig.ts';

/** A payment, as the demo looks at it in the end. */
export interface JudgedPayment {
  readonly paymentIntentId: string;
  readonly txHash: string;
  readonly payouts: number;
  readonly owed: bigint;
  readonly received: bigint;
  readonly paidBy: string;
  readonly isRight: boolean;
}

const RATE = 1000n;

/**
 * Compares each payment with the chain, to the last unit.
 *
 * @param rig - chain and frontend
 * @param names - of relayers by address
 * @returns what was owed, and what was received in how many payouts
 */
export async function judgePayments(
  rig: PaymentsRig,
  names: ReadonlyMap<Address, string>,
): Promise<readonly JudgedPayment[]> {
  const judged: JudgedPayment[] = [];
  for (const payment of rig.frontend.store.list()) {
    const { paymentIntentId, txHash = '' } = payment;
    // The demo itself has made the wallet, and the frontend takes nothing but hashes.
    const received = await rig.creditsOf(payment.walletAddress as Address);
    const owed = computeCreditsOwed(BigInt(payment.stablecoinAmount), RATE);
    const payouts = await rig.countPayouts(markPayout(paymentIntentId));
    const from = txHash === '' ? undefined : (await rig.client.getTransaction({ hash: txHash as Hash })).from;
    const payer = [...names].find(([address]) => address.toLowerCase() === from?.toLowerCase());
    const isRight = received === owed && payouts === 1 && payer !== undefined;
    judged.push({ paymentIntentId, txHash, payouts, owed, received, paidBy: payer?.[1] ?? '?', isRight });
  }
  return judged;
}

/**
 * Writes the table of the demo's end.
 *
 * @param payments - judged
 * @returns lines of text
 */
export function formatTable(payments: readonly JudgedPayment[]): string {
  const rows = payments.map(({ paymentIntentId, txHash, payouts, owed, received, paidBy, isRight }) =>
    [
      paymentIntentId.padEnd(22),
      `${txHash.slice(0, 12)}…`.padEnd(14),
      paidBy.padEnd(4),
      `${payouts}`.padStart(7),
      formatUnits(owed, 18).padStart(12),
      formatUnits(received, 18).padStart(12),
      isRight ? 'ok' : 'WRONG',
    ].join('  '),
  );
  const head = [
    'payment'.padEnd(22),
    'transfer'.padEnd(14),
    'by  ',
    'payouts',
    'owed'.padStart(12),
    'received'.padStart(12),
    '',
  ];
  return [head.join('  '), ...rows].join('\n');
}
