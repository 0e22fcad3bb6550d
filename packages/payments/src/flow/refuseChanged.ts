import type { ListedPayment } from '../payments/checkListing.ts';
import { refusePayment } from './refusePayment.ts';
import type { RelayerContext } from './relayerContext.ts';

/**
 * Refuses a payment that is listed with other values than before.
 *
 * @param context - journal, alerts, log
 * @param listed - fit to be paid as far as its data goes
 * @returns whether its values are others
 */
export function refuseChanged(
  context: Pick<RelayerContext, 'journal' | 'alerter' | 'log'>,
  listed: ListedPayment,
): boolean {
  const { paymentIntentId } = listed;
  const known = context.journal.get(paymentIntentId);
  if (known === undefined) return false;
  const { walletAddress, stablecoinAmount } = known;
  if (walletAddress === listed.walletAddress && stablecoinAmount === listed.stablecoinAmount) return false;
  refusePayment(context, {
    paymentIntentId,
    reason: `It was listed before with another wallet or amount: ${stablecoinAmount} stablecoin base units to ${walletAddress}.`,
  });
  return true;
}
