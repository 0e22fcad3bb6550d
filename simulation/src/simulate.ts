import { describeStory, namedIn } from './core/describeStory.ts';
import type { WorldEvent } from './core/eventLog.ts';
import { readJournals } from './core/readJournals.ts';
import { createRealm, type Realm } from './core/realm.ts';
import type { BlockSample, FaultSpan } from './world/createWorld.ts';
import type { Fault } from './world/kinds.ts';
import type { PaymentStory } from './world/payments/story.ts';
import type { Breach, Story } from './world/story.ts';

/** How a world is lived. */
export interface SimulationOptions {
  readonly seed: string;
  /** Virtual hours. */
  readonly hours: number;
  readonly faults: ReadonlySet<Fault>;
  readonly relayers: number;
  readonly liars: number;
  readonly users: number;
  readonly nodes: number;
  readonly blockSeconds: number;
  /** Mean seconds from one write to the next; 0: nobody writes. */
  readonly writeEverySeconds: number;
  /** Mean seconds from one card payment to the next; 0: nobody pays. */
  readonly payEverySeconds: number;
  /** Receivers of webhooks. */
  readonly receivers: number;
  /** Apps that write through the SDK's user client, each on two devices. */
  readonly apps: number;
  /** Ends at the first breach of this invariant; `any`: of one at all. */
  readonly stopAt?: string;
  /** Parts of users' lives that are lived. */
  readonly kinds: readonly string[];
  readonly onEvent?: (event: WorldEvent) => void;
  /** Called after each virtual hour, or part of one at the end. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Where a world is. */
export interface Progress {
  readonly virtualMs: number;
  readonly realMs: number;
  readonly requests: number;
  readonly ended: number;
  readonly breaches: number;
}

/** The results of a world's life. */
export interface SimulationResult {
  readonly seed: string;
  /** Unix time at which it began, in milliseconds. */
  readonly startMs: number;
  readonly virtualMs: number;
  readonly realMs: number;
  /** Time of the processor, without the set-up. */
  readonly cpuMs: number;
  readonly events: readonly WorldEvent[];
  /** SHA-256 over all events: the same seed and options give the same one. */
  readonly digest: string;
  readonly breaches: readonly Breach[];
  readonly stories: readonly Story[];
  readonly payments: readonly PaymentStory[];
  readonly blocks: readonly BlockSample[];
  readonly faults: readonly FaultSpan[];
  readonly counts: Readonly<Record<string, number>>;
  /** The events of a request, payment or relayer. */
  story(id: string): readonly WorldEvent[];
}

/** The part of a result that other processes get. */
export type Summary = Pick<
  SimulationResult,
  'seed' | 'digest' | 'virtualMs' | 'realMs' | 'cpuMs' | 'breaches' | 'counts'
>;

export function summarise(result: SimulationResult): Summary {
  const { seed, digest, virtualMs, realMs, cpuMs, breaches, counts } = result;
  return { seed, digest, virtualMs, realMs, cpuMs, breaches, counts };
}

/** Breaches for which the journals are read. */
const MAX_JOURNALS = 20;

/** Has what the programs' journals say of a request or payment be a part of its story. */
function addJournals({ log, diskOf }: Realm, services: readonly { readonly host: string }[], id: string): void {
  for (const { host } of services) {
    for (const text of readJournals(diskOf(host), id)) log.add({ kind: 'journal', who: host, text, about: [id] });
  }
}

/** How long a stretch of virtual time is, after which somebody looks whether to go on, in milliseconds. */
const STRETCH_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Lives a world from one seed, in virtual time.
 *
 * @returns what it has shown; nothing of it is left running
 */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seed } = options;
  const realNow = process.hrtime.bigint;
  // Stacks lead through the machine's event loop, which no seed determines, and cost more than they show.
  Error.stackTraceLimit = 0;
  using realm = createRealm({ seed, ...(options.onEvent && { onEvent: options.onEvent }) });
  const { clock } = realm;
  // Programs meet the simulated built-ins wherever they are loaded; they are loaded here so that each world begins alike.
  const { startCards } = await import('./world/payments/cards.ts');
  const { createWorld, startMiner } = await import('./world/createWorld.ts');
  const { startUsers } = await import('./world/users.ts');
  const { startChecks } = await import('./world/checks.ts');
  const { startFaults } = await import('./world/faults.ts');
  const { LIES, startLiar } = await import('./world/liars.ts');
  const world = await clock.runUntilSettled(createWorld(realm, options));
  const startedAt = clock.now();
  const realStart = realNow();
  const cpuStart = process.cpuUsage();
  startMiner(world);
  const { writeEverySeconds, kinds, stopAt } = options;
  if (writeEverySeconds > 0) startUsers(world, { writeEverySeconds, kinds });
  if (world.payments !== undefined) startCards(world, world.payments, { everySeconds: options.payEverySeconds });
  for (const [index, key] of world.liarKeys.entries()) startLiar(world, key, LIES[index % LIES.length] ?? 'idle');
  startFaults(world, options.faults);
  startChecks(world);
  const endsAt = startedAt + options.hours * HOUR_MS;
  const elapsedMs = () => Number(realNow() - realStart) / 1e6;
  function cpuMs(): number {
    const { user, system } = process.cpuUsage(cpuStart);
    return (user + system) / 1000;
  }
  const progress = (): Progress => ({
    virtualMs: clock.now() - startedAt,
    realMs: elapsedMs(),
    requests: world.stories.size,
    ended: [...world.stories.values()].filter(({ endedAtMs }) => endedAtMs !== undefined).length,
    breaches: world.breaches.length,
  });
  let shown = 0;
  while (clock.now() < endsAt) {
    const before = clock.now();
    await clock.runUntil(Math.min(endsAt, before + STRETCH_MS));
    for (const { about, text } of world.breaches.slice(shown, MAX_JOURNALS)) {
      for (const id of namedIn(about, text)) addJournals(realm, world.services, id);
    }
    shown = world.breaches.length;
    const isHour = Math.floor((clock.now() - startedAt) / HOUR_MS) > Math.floor((before - startedAt) / HOUR_MS);
    if (isHour || clock.now() >= endsAt) options.onProgress?.(progress());
    const isEnd = (name: string) => name === 'simulation' || stopAt === 'any' || name === stopAt;
    if (world.breaches.some(({ invariant }) => isEnd(invariant))) break;
  }
  const counts: Record<string, number> = { steps: clock.steps() };
  for (const { status, kind } of world.stories.values()) {
    counts[`${kind}: ${status}`] = (counts[`${kind}: ${status}`] ?? 0) + 1;
  }
  const payments = [...(world.payments?.stories.values() ?? [])];
  for (const { expects, completedAtMs } of payments) {
    const name = `payment to be ${expects}: ${completedAtMs === undefined ? 'open' : 'completed'}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  for (const { name, host } of world.services) {
    const minutes = (clock.now() - startedAt) / 60_000;
    counts[`calls to nodes a minute of ${name}:`] = Math.round(((world.calls.get(host) ?? 0) / minutes) * 10) / 10;
  }
  const result = {
    seed,
    payments,
    startMs: startedAt,
    stories: [...world.stories.values()],
    blocks: world.blocks,
    faults: world.faults,
    virtualMs: clock.now() - startedAt,
    realMs: elapsedMs(),
    cpuMs: cpuMs(),
    events: realm.log.list(),
    digest: realm.log.digest(),
    breaches: world.breaches,
    counts,
    story: (id: string) => describeStory(realm.log.list(), id),
  };
  for (const { service } of world.apps) service.kill();
  for (const service of [...world.services, world.gateway]) service.kill();
  return result;
}
