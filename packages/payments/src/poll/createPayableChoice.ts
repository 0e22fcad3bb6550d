import { createPaymentLatch } from '../alerts/createPaymentLatch.ts';
import { KeyUsedElsewhereError } from '../chain/createKeyWatch.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import type { ListedPayment } from '../frontend/checkListing.ts';
import { OBSTACLES, type Obstacle } from '../readiness/createReadiness.ts';

/** How alerts call what is in the way of payments, and its end. */
const OBSTACLE_SUBJECTS: Readonly<Record<Obstacle['code'], { readonly subject: string; readonly over: string }>> = {
  APPROVAL_MISSING: { subject: 'Payments wait: an approval is missing', over: 'The approval is there' },
  CONTRACTS_WRONG: { subject: 'Payments wait: a contract is not what it should be', over: 'The contracts are right' },
  GAS_PRICE_TOO_HIGH: { subject: 'No payments are begun: gas costs too much', over: 'Gas costs less again' },
  OUT_OF_ETHER: { subject: 'Payments wait: out of ether', over: 'There is ether again' },
  OUT_OF_STABLECOINS: { subject: 'Payments wait: out of stablecoins', over: 'There are stablecoins again' },
  RATE_DEVIATES: { subject: 'Payments wait: the rate is not as expected', over: 'The rate is as expected again' },
};

/** Whether nobody else uses the key, as far as the chain shows; payments are begun only then. */
async function isKeyOurs({ watch }: PayerContext): Promise<boolean> {
  try {
    await watch.check();
    return true;
  } catch (error) {
    if (error instanceof KeyUsedElsewhereError) return false;
    throw error;
  }
}

/**
 * Makes the choice of what an instance can pay now. People are alerted to what is in the way, and when it is no longer.
 *
 * @returns the choice, of what would be claimed; it throws viem's errors
 */
export function createPayableChoice(
  context: PayerContext,
): (wanted: readonly ListedPayment[]) => Promise<readonly ListedPayment[]> {
  const latches = new Map(
    OBSTACLES.map((code) => [code, createPaymentLatch(context, { code, ...OBSTACLE_SUBJECTS[code] })] as const),
  );
  return async function choosePayable(wanted) {
    const isAnyRaised = [...latches.values()].some((latch) => latch.isRaised());
    if ((wanted.length === 0 && !isAnyRaised) || !(await isKeyOurs(context))) return [];
    const { payable, obstacles, undecided } = await context.readiness.evaluate(wanted);
    for (const [code, latch] of latches) {
      const obstacle = obstacles.find((found) => found.code === code);
      if (obstacle !== undefined) latch.raise(obstacle.text);
      else if (!undecided.includes(code)) latch.clear();
    }
    return payable;
  };
}
