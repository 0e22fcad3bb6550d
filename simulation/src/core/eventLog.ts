import { createHash } from 'node:crypto';

/** One thing that happened. */
export interface WorldEvent {
  /** Virtual Unix time in milliseconds. */
  readonly atMs: number;
  /** `message`, `block`, `fault`, `log`, `process`, `actor`, … */
  readonly kind: string;
  /** Who it happened to. */
  readonly who: string;
  readonly text: string;
  /** Ids of requests, payments or transactions that it is about. */
  readonly about: readonly string[];
}

/** All that happened, in order. */
export interface EventLog {
  add(event: Omit<WorldEvent, 'atMs' | 'about'> & { readonly about?: readonly string[] }): void;
  /** Events about one id, or all. */
  list(id?: string): readonly WorldEvent[];
  count(): number;
  /** SHA-256 over all events so far, in hex: the same seed gives the same one. */
  digest(): string;
}

const NOTHING: readonly string[] = [];

/**
 * Keeps what happened.
 *
 * @param now - virtual Unix time in milliseconds
 * @param onEvent - sees each event as it comes
 */
export function createEventLog(now: () => number, onEvent: (event: WorldEvent) => void = () => undefined): EventLog {
  const events: WorldEvent[] = [];
  const byId = new Map<string, WorldEvent[]>();
  const hash = createHash('sha256');
  return {
    add({ kind, who, text, about = NOTHING }) {
      const event = { atMs: now(), kind, who, text, about };
      events.push(event);
      hash.update(`${event.atMs} ${kind} ${who} ${text}\n`);
      for (const id of about) {
        const known = byId.get(id);
        if (known === undefined) byId.set(id, [event]);
        else known.push(event);
      }
      onEvent(event);
    },
    list: (id) => (id === undefined ? events : (byId.get(id) ?? [])),
    count: () => events.length,
    digest: () => hash.copy().digest('hex'),
  };
}
