import type { Alerter } from './createAlerter.ts';

/** A condition that people are told of. */
export interface AlertLatch {
  /** It is so; told once. */
  raise(text: string): void;
  /** It is so no longer; told where that it was so has been told. */
  clear(): void;
  isRaised(): boolean;
}

/**
 * Tells when a condition begins, and when it has ended.
 *
 * @param context - with alerts
 * @param name - the alert's code, and what it says of the beginning and of the end
 * @returns the condition, not begun
 */
export function alertLatch(
  context: { readonly alerter: Alerter },
  name: { readonly code: string; readonly subject: string; readonly over: string },
): AlertLatch {
  let isRaised = false;
  return {
    isRaised: () => isRaised,
    raise(text) {
      if (isRaised) return;
      isRaised = true;
      context.alerter.raise({ code: name.code, severity: 'warning', subject: name.subject, text });
    },
    clear() {
      if (!isRaised) return;
      isRaised = false;
      context.alerter.raise({
        code: `${name.code}_OVER`,
        severity: 'info',
        subject: name.over,
        text: 'Payments go on.',
      });
    },
  };
}
