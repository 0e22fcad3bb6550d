import type { Alert } from './alert.ts';
import type { Delivery, WaitingAlert } from './createOutboxTable.ts';

/** A message of alerts that have one cause. */
export interface Message {
  readonly ids: readonly number[];
  readonly alert: Alert;
}

/** The next message, a pause until there is room for one, or nothing. */
export type NextMessage =
  | { readonly message: Message; readonly isLast: boolean }
  | { readonly waitMs: number }
  | undefined;

/** Messages an hour a channel; the last of them sums up what else there is. Critical ones are not counted. */
const MAX_AN_HOUR = 10;
/** Messages an hour of one condition, its beginnings and ends: one that comes and goes leaves room for the others. */
const MAX_A_CONDITION = 4;
const MAX_CRITICAL_A_CONDITION = 10;
const HOUR_MS = 3_600_000;
/** Subjects that a message names of many. */
const MAX_NAMED = 50;

const SEVERITIES = ['critical', 'warning', 'info'] as const;
const worst = (alerts: readonly Pick<Alert, 'severity'>[]) =>
  SEVERITIES.find((level) => alerts.some(({ severity }) => severity === level)) ?? 'info';

/** The condition of an alert: its end is of the same one. */
const conditionOf = (code: string) => code.replace(/_(OVER|RECOVERED)$/, '');
const isCritical = ({ severity }: Pick<Alert, 'severity'>) => severity === 'critical';

function nameAll(alerts: readonly Alert[]): string {
  const named = alerts.slice(0, MAX_NAMED).map(({ subject }) => `- ${subject}`);
  const rest = alerts.length - named.length;
  return [...named, ...(rest > 0 ? [`- and ${rest} more; the log has them all`] : [])].join('\n');
}

/** One message of all alerts of a condition: the newest in full, and the others by name. */
function joinAlerts(waiting: readonly WaitingAlert[]): Message {
  const alerts = waiting.map(({ alert }) => alert);
  const ids = waiting.map(({ id }) => id);
  // A group has at least one.
  const newest = alerts.at(-1) as Alert;
  if (alerts.length === 1) return { ids, alert: newest };
  const subject = `${newest.subject} (${alerts.length} of this kind)`;
  const text = `${newest.text}\n${alerts.length} of this kind:\n${nameAll(alerts)}`;
  return { ids, alert: { ...newest, severity: worst(alerts), subject, text } };
}

/** One message of everything, by name, once a channel has had enough for an hour. */
function sumUp(messages: readonly Message[], waiting: readonly WaitingAlert[]): Message {
  const ids = messages.flatMap((message) => message.ids);
  const alerts = [
    ...messages.filter((message) => message.ids.length === 0).map(({ alert }) => alert),
    ...waiting.filter(({ id }) => ids.includes(id)).map(({ alert }) => alert),
  ];
  return {
    ids,
    alert: {
      code: 'ALERTS_SUMMED_UP',
      severity: worst(alerts),
      subject: `${alerts.length} further alerts within the hour`,
      text: `${nameAll(alerts)}\nFurther ones wait until the hour is over; the log has them all.`,
    },
  };
}

/** Since when there has been room for one more; 0: always. */
function roomSince(times: readonly number[], most: number): number {
  const counted = [...new Set(times)].toSorted((one, other) => one - other);
  return counted.length < most ? 0 : (counted.at(-most) ?? 0) + HOUR_MS;
}

/**
 * Chooses what a channel gets next: critical alerts first, and outside the channel's budget, so that nothing keeps them back.
 *
 * @param queue.inMemory - alerts that are not written down
 * @param queue.waiting - those that are, oldest first
 * @param queue.delivered - what the channel has got within the hour
 * @param queue.refusalsOf - how often a code was refused for what it says: those have their turn after the others
 */
export function chooseMessage(queue: {
  readonly inMemory: readonly Alert[];
  readonly waiting: readonly WaitingAlert[];
  readonly delivered: readonly Delivery[];
  readonly refusalsOf: (code: string) => number;
  readonly nowMs: number;
}): NextMessage {
  const { inMemory, waiting, delivered, refusalsOf, nowMs } = queue;
  const recent = delivered.filter(({ atMs }) => nowMs - atMs < HOUR_MS);
  const ordinary = roomSince(
    recent.filter((one) => !isCritical(one)).map(({ atMs }) => atMs),
    MAX_AN_HOUR,
  );
  const roomFor = ({ alert }: Message) => {
    const own = recent.filter(({ code }) => conditionOf(code) === conditionOf(alert.code)).map(({ atMs }) => atMs);
    if (isCritical(alert)) return roomSince(own, MAX_CRITICAL_A_CONDITION);
    return Math.max(ordinary, roomSince(own, MAX_A_CONDITION));
  };
  const groups = Map.groupBy(waiting, ({ alert }) => conditionOf(alert.code));
  const messages: readonly Message[] = [
    ...inMemory.map((alert) => ({ ids: [], alert })),
    ...[...groups.values()].map(joinAlerts),
  ].toSorted(
    (one, other) =>
      refusalsOf(one.alert.code) - refusalsOf(other.alert.code) ||
      Number(isCritical(other.alert)) - Number(isCritical(one.alert)),
  );
  const ready = messages.filter((message) => roomFor(message) <= nowMs);
  const [first] = ready;
  if (first === undefined)
    return messages.length === 0 ? undefined : { waitMs: Math.max(1, Math.min(...messages.map(roomFor)) - nowMs) };
  const used = new Set(recent.filter((one) => !isCritical(one)).map(({ atMs }) => atMs)).size;
  const rest = ready.filter(({ alert }) => !isCritical(alert));
  const isLast = !isCritical(first.alert) && used === MAX_AN_HOUR - 1 && rest.length > 1;
  return { message: isLast ? sumUp(rest, waiting) : first, isLast };
}
