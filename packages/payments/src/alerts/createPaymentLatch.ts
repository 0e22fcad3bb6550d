import { type AlertLatch, createLatch } from '@prism-gateway/node/alerts';

/**
 * A condition that holds payments up; people are alerted when it begins and when it has ended.
 *
 * @param context - alerts, where what was sent is kept, and the clock in milliseconds since the epoch
 * @param name - the alert's code, and what it says of the beginning and of the end
 * @returns the condition, as it was left
 */
export function createPaymentLatch(
  context: Parameters<typeof createLatch>[0],
  name: { readonly code: string; readonly subject: string; readonly over: string },
): AlertLatch {
  return createLatch(context, { ...name, relief: 'Payments go on.' });
}
