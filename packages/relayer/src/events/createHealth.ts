/** An ability that a relayer needs on each chain. */
export type HealthPart =
  | 'budget'
  | 'chain'
  | 'clock'
  | 'gateway'
  | 'journal'
  | 'evaluation'
  | 'key'
  | 'nodes'
  | 'refusals';

/** Whether the work can go on. */
export interface Health {
  /** Notes that a part works. */
  recordWell(part: HealthPart): void;
  /** Notes that a part does not. @param reason - without URLs and keys */
  recordFailure(part: HealthPart, reason: string): void;
  /** The faults, in one sentence each; none if all is well. */
  faults(): readonly string[];
  /**
   * Notes what the operator is to look at, though the work goes on.
   *
   * @param subject - a later one of it takes its place
   * @param forMs - how long it is shown; default ten minutes
   */
  warn(subject: string, text: string, forMs?: number): void;
  warnings(): readonly string[];
}

const CANNOT: Readonly<Record<HealthPart, string>> = {
  budget: 'has used up a loss budget, and leaves requests alone',
  chain: 'cannot see the chain',
  clock: 'cannot trust its clock',
  gateway: 'cannot reach the gateway',
  journal: 'cannot write its journal',
  evaluation: 'cannot evaluate requests',
  key: 'has found transactions of its key that its journal does not know',
  nodes: 'cannot end requests for its nodes do not agree',
  refusals: 'takes no request',
};

/** How long the operator is notified of a warning by default, in milliseconds. */
const WARNED_FOR_MS = 600_000;

/** They show only while there is something to do. */
const UNSEEN_AT_FIRST: ReadonlySet<HealthPart> = new Set([
  'budget',
  'clock',
  'journal',
  'evaluation',
  'key',
  'nodes',
  'refusals',
]);

/**
 * Makes the health of some parts: gateway and chain are red from the start until they have worked; the others show only while there is
 * something to do.
 *
 * @param options.parts - those that are watched
 * @param options.silentMs - a part that nothing has been heard of for longer counts as failed
 */
export function createHealth(options: {
  readonly parts: readonly HealthPart[];
  readonly silentMs: number;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}): Health {
  const { parts, silentMs, now, monotonicNow } = options;
  const failures = new Map<
    HealthPart,
    { readonly reason: string; readonly sinceMs: number; readonly lastMs: number }
  >();
  const wellAt = new Map<HealthPart, { readonly unixMs: number; readonly ms: number }>();
  const warned = new Map<string, { readonly text: string; readonly untilMs: number }>();
  for (const part of parts) {
    if (!UNSEEN_AT_FIRST.has(part))
      failures.set(part, { reason: 'there has been no answer yet', sinceMs: now(), lastMs: monotonicNow() });
  }
  function describe(part: HealthPart): string | undefined {
    const failure = failures.get(part);
    // A question on which nodes do not agree is asked again all the time: one that is not asked any more has ended in some other way.
    if (part === 'nodes' && failure !== undefined && monotonicNow() - failure.lastMs > silentMs) return undefined;
    if (failure !== undefined) {
      return `${CANNOT[part]} since ${new Date(failure.sinceMs).toISOString()}: ${failure.reason}`;
    }
    const well = wellAt.get(part);
    if (UNSEEN_AT_FIRST.has(part) || well === undefined || monotonicNow() - well.ms <= silentMs) return undefined;
    return `${CANNOT[part]} since ${new Date(well.unixMs).toISOString()}: there has been no answer`;
  }
  return {
    recordWell(part) {
      failures.delete(part);
      wellAt.set(part, { unixMs: now(), ms: monotonicNow() });
    },
    recordFailure(part, reason) {
      failures.set(part, { reason, sinceMs: failures.get(part)?.sinceMs ?? now(), lastMs: monotonicNow() });
    },
    faults: () => parts.map(describe).filter((fault) => fault !== undefined),
    warn: (subject, text, forMs = WARNED_FOR_MS) => void warned.set(subject, { text, untilMs: monotonicNow() + forMs }),
    warnings: () => [...warned.values()].filter(({ untilMs }) => monotonicNow() < untilMs).map(({ text }) => text),
  };
}

/** Lists what the healths of several chains show, each line with its chain's name. */
export const listOfChains = (healthOf: Iterable<readonly [string, Health]>, list: 'faults' | 'warnings') =>
  [...healthOf].flatMap(([chainName, health]) => health[list]().map((line) => `${chainName}: ${line}`));

/** Writes the page `/health`: 503 with a line for each fault, or `ok`; warnings follow in both. */
export function healthPage(shown: { readonly faults: readonly string[]; readonly warnings: readonly string[] }) {
  const { faults, warnings } = shown;
  if (faults.length === 0) return { body: `${['ok', ...warnings].join('\n')}\n` };
  return { status: 503, body: `${[...faults, ...warnings].join('\n')}\n` };
}
