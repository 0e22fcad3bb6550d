/**
 * A condition that people are told of.
 *
 * ```
 *  well ── bad reading ──▶ bad (an alert) ── still bad a day later ──▶ bad (a reminder)
 *   ▲                       │
 *   ╰──── good reading ─────╯ (a recovery message)
 * ```
 */
export interface Condition {
  readonly state: 'well' | 'bad';
  /** When people were last told; milliseconds since the epoch. */
  readonly toldAtMs: number;
}

/** What people are to be told. */
export type Telling = 'alert' | 'reminder' | 'recovery';

/** A condition of which nothing is known yet. */
export const FIRST_CONDITION: Condition = { state: 'well', toldAtMs: 0 };

/** Between two reminders. */
const REMINDER_MS = 86_400_000;

/**
 * Takes in a reading: one alert a crossing, a reminder a day, and a recovery.
 *
 * @param condition - as it was
 * @param reading - whether all is well, and when it was read, in milliseconds since the epoch
 * @returns the condition as it is now, and what is to be told
 */
export function judgeReading(
  condition: Condition,
  reading: { readonly isWell: boolean; readonly atMs: number },
): { readonly condition: Condition; readonly telling?: Telling } {
  const { isWell, atMs } = reading;
  if (isWell) {
    if (condition.state === 'well') return { condition };
    return { condition: { state: 'well', toldAtMs: atMs }, telling: 'recovery' };
  }
  if (condition.state === 'well') return { condition: { state: 'bad', toldAtMs: atMs }, telling: 'alert' };
  if (Math.abs(atMs - condition.toldAtMs) < REMINDER_MS) return { condition };
  return { condition: { state: 'bad', toldAtMs: atMs }, telling: 'reminder' };
}
