import type { WorldEvent } from './eventLog.ts';

const HASH = /0x[0-9a-f]{64}/g;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bpi_\w+/g;
/** Kinds of events that concern everybody. */
const COMMON: ReadonlySet<string> = new Set(['fault', 'process']);

/** Requests and payments that a text names. */
export const namedIn = (...texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(ID) ?? [])),
];

/**
 * Selects what has happened to a request, payment or relayer: its own events, those of the request that its breach names and of the
 * transactions that they name, and the faults and deaths in between.
 *
 * @param events - all of the world, in order
 */
export function describeStory(events: readonly WorldEvent[], id: string): readonly WorldEvent[] {
  const isAbout = (ids: ReadonlySet<string>) => (event: WorldEvent) => event.about.some((each) => ids.has(each));
  const breaches = events.filter(({ kind, about }) => kind === 'breach' && about.includes(id));
  const own = events.filter(isAbout(new Set([id, ...namedIn(...breaches.map(({ text }) => text))])));
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined) return [];
  // A journal has much that is long past.
  const hashes = own.filter(({ kind }) => kind !== 'journal').flatMap(({ text }) => text.match(HASH) ?? []);
  const isOfThem = isAbout(new Set(hashes));
  const owned = new Set(own);
  const isBetween = ({ atMs }: WorldEvent) => atMs >= first.atMs && atMs <= last.atMs;
  return events.filter((event) => owned.has(event) || isOfThem(event) || (COMMON.has(event.kind) && isBetween(event)));
}
