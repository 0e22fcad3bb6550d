import type { WorldEvent } from '../core/eventLog.ts';
import type { SimulationResult } from '../simulate.ts';

const writeTime = (atMs: number) => new Date(atMs).toISOString().slice(5, 23).replace('T', ' ');

/** One event as a line. */
export const writeEvent = ({ atMs, kind, who, text }: WorldEvent): string =>
  `${writeTime(atMs)}  ${kind.padEnd(8)} ${who}: ${text}`;

/** Events of a story that are printed: how it began, and what came last. */
const FIRST_EVENTS = 20;
const LAST_EVENTS = 40;
/** Breaches whose stories are printed. */
const MAX_STORIES = 5;

function shorten(lines: readonly string[]): readonly string[] {
  const left = lines.length - FIRST_EVENTS - LAST_EVENTS;
  if (left <= 0) return lines;
  return [...lines.slice(0, FIRST_EVENTS), `  … ${left} more (--story) …`, ...lines.slice(-LAST_EVENTS)];
}

/** Writes a story; what happens again and again stands there once, with how often and until when. */
export function writeStory(events: readonly WorldEvent[]): readonly string[] {
  const runs: { readonly first: WorldEvent; last: WorldEvent; count: number }[] = [];
  for (const event of events) {
    const run = runs.at(-1);
    const isSame = run !== undefined && run.last.who === event.who && run.last.text === event.text;
    if (isSame) Object.assign(run, { last: event, count: run.count + 1 });
    else runs.push({ first: event, last: event, count: 1 });
  }
  return runs.map(({ first, last, count }) => {
    const again = count === 1 ? '' : ` (${count} times until ${writeTime(last.atMs)})`;
    return `${writeEvent(first)}${again}`;
  });
}

/** A world's results, for people. @param command - repeats it */
export function describe(result: SimulationResult, command: string): string {
  const { seed, breaches, digest, events, counts, virtualMs, realMs, cpuMs, story } = result;
  const speed = Math.round(virtualMs / realMs);
  const perDay = Math.round((events.length * 86_400_000) / virtualMs);
  const lines = [
    `seed ${seed}: ${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${(realMs / 1000).toFixed(1)} s, ${speed} virtual seconds a second, ${Math.round(virtualMs / cpuMs)} a second of the processor`,
    `${events.length} events, ${perDay} a virtual day, digest ${digest.slice(0, 16)}`,
    ...Object.entries(counts).map(([name, count]) => `  ${name} ${count}`),
  ];
  for (const [index, { invariant, text, about, atMs }] of breaches.entries()) {
    lines.push('', `BREACH at ${writeTime(atMs)}  ${invariant}: ${text} (${about})`);
    if (index < MAX_STORIES) lines.push(...shorten(writeStory(story(about)).map((line) => `  ${line}`)));
  }
  lines.push(
    '',
    breaches.length === 0 ? 'All that must hold holds.' : `${breaches.length} breaches. Again: ${command}`,
  );
  return lines.join('\n');
}
