import type { WorldEvent } from './core/eventLog.ts';
import { createRealm } from './core/realm.ts';
import type { BlockSample, FaultSpan } from './world/createWorld.ts';
import type { Fault } from './world/faults.ts';
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
  /** A write every so many seconds on average; 0: nobody writes. */
  readonly writeEverySeconds: number;
  /** Ends as soon as something that must hold does not. */
  readonly stopsAtBreach: boolean;
  /** Parts of users' lives that are lived; default all. */
  readonly kinds?: readonly string[];
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

/** What a world's life has shown. */
export interface SimulationResult {
  readonly seed: string;
  /** Unix time at which it began, in milliseconds. */
  readonly startMs: number;
  readonly virtualMs: number;
  readonly realMs: number;
  readonly events: readonly WorldEvent[];
  /** SHA-256 over all events: the same seed and options give the same one. */
  readonly digest: string;
  readonly breaches: readonly Breach[];
  readonly stories: readonly Story[];
  readonly blocks: readonly BlockSample[];
  readonly faults: readonly FaultSpan[];
  readonly counts: Readonly<Record<string, number>>;
  /** Events about one id. */
  story(id: string): readonly WorldEvent[];
}

/** How long a stretch of virtual time is, after which somebody looks whether to go on, in milliseconds. */
const STRETCH_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Parts of users' lives. */
export const KINDS = [
  'single',
  'single',
  'single',
  'single',
  'pair',
  'twice',
  'raise',
  'forged',
  'foreign',
  'invalidate',
];

/**
 * Lives a world from one seed, in virtual time.
 *
 * @returns what it has shown; nothing of it is left running
 */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seed } = options;
  const realNow = process.hrtime.bigint;
  // Stacks lead through the machine's event loop, which no seed determines, and cost more than what they tell of.
  Error.stackTraceLimit = 0;
  using realm = createRealm({ seed, ...(options.onEvent && { onEvent: options.onEvent }) });
  const { clock } = realm;
  // Programs meet the simulated built-ins wherever they are loaded; they are loaded here so that each world begins alike.
  const { createWorld, startMiner } = await import('./world/createWorld.ts');
  const { startUsers } = await import('./world/users.ts');
  const { startChecks } = await import('./world/checks.ts');
  const { startFaults } = await import('./world/faults.ts');
  const { LIES, startLiar } = await import('./world/liars.ts');
  const world = await clock.runUntilSettled(createWorld(realm, options));
  const startedAt = clock.now();
  const realStart = realNow();
  startMiner(world);
  const { writeEverySeconds, kinds = KINDS } = options;
  if (writeEverySeconds > 0) startUsers(world, { writeEverySeconds, kinds });
  for (const [index, key] of world.liarKeys.entries()) startLiar(world, key, LIES[index % LIES.length] ?? 'idle');
  startFaults(world, options.faults);
  startChecks(world);
  const endsAt = startedAt + options.hours * HOUR_MS;
  const elapsedMs = () => Number(realNow() - realStart) / 1e6;
  const progress = (): Progress => ({
    virtualMs: clock.now() - startedAt,
    realMs: elapsedMs(),
    requests: world.stories.size,
    ended: [...world.stories.values()].filter(({ endedAtMs }) => endedAtMs !== undefined).length,
    breaches: world.breaches.length,
  });
  while (clock.now() < endsAt) {
    const before = clock.now();
    await clock.runUntil(Math.min(endsAt, before + STRETCH_MS));
    const isHour = Math.floor((clock.now() - startedAt) / HOUR_MS) > Math.floor((before - startedAt) / HOUR_MS);
    if (isHour || clock.now() >= endsAt) options.onProgress?.(progress());
    if (world.breaches.some(({ invariant }) => invariant === 'simulation')) break;
    if (options.stopsAtBreach && world.breaches.length > 0) break;
  }
  const counts: Record<string, number> = { steps: clock.steps() };
  for (const { status, kind } of world.stories.values()) {
    counts[`${kind}: ${status}`] = (counts[`${kind}: ${status}`] ?? 0) + 1;
  }
  const result = {
    seed,
    startMs: startedAt,
    stories: [...world.stories.values()],
    blocks: world.blocks,
    faults: world.faults,
    virtualMs: clock.now() - startedAt,
    realMs: elapsedMs(),
    events: realm.log.list(),
    digest: realm.log.digest(),
    breaches: world.breaches,
    counts,
    story: realm.log.list,
  };
  for (const service of [...world.relayers, world.watchtower, world.gateway]) service.kill();
  return result;
}
