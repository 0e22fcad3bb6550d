import type { SimulationOptions } from '../simulate.ts';
import { writeOptions } from './readOptions.ts';
import { commandOf, runWorld } from './runWorld.ts';

const HOUR_MS = 3_600_000;
/** When worlds begin to be lived is some minutes after their first instant; a breach is looked for a minute longer. */
const SLACK_HOURS = 1 / 60;

/** Worlds that have a little less in them, the boldest first. */
function* listSmaller(options: SimulationOptions): Generator<SimulationOptions> {
  const { faults, kinds, liars, users, relayers, nodes, payEverySeconds, receivers, apps } = options;
  if (faults.size > 0) yield { ...options, faults: new Set() };
  if (payEverySeconds > 0) yield { ...options, payEverySeconds: 0 };
  if (receivers > 0) yield { ...options, receivers: 0 };
  if (apps > 0) yield { ...options, apps: 0 };
  if (liars > 0) yield { ...options, liars: 0 };
  for (const fault of faults) yield { ...options, faults: new Set([...faults].filter((each) => each !== fault)) };
  for (const kind of new Set(kinds)) {
    const left = kinds.filter((each) => each !== kind);
    if (left.length > 0) yield { ...options, kinds: left };
  }
  if (users > 2) yield { ...options, users: Math.max(2, users >> 1) };
  if (relayers > 1) yield { ...options, relayers: relayers - 1 };
  // A watchtower that enforces wants two.
  if (nodes > 2) yield { ...options, nodes: nodes - 1 };
  if (liars > 1) yield { ...options, liars: liars - 1 };
}

/** The invariant that must break, and the options of every world beside its own. */
interface Sought {
  readonly invariant: string;
  readonly further: readonly string[];
}

/** Lives a world until an invariant breaks. @returns the same world, no longer than that; undefined if it holds */
async function cutAtBreach(
  options: SimulationOptions,
  { invariant, further }: Sought,
): Promise<SimulationOptions | undefined> {
  const summary = await runWorld([...writeOptions(options), ...further, '--stop-at', invariant]);
  if (!summary.breaches.some((breach) => breach.invariant === invariant)) return undefined;
  const hours = Math.min(options.hours, summary.virtualMs / HOUR_MS + SLACK_HOURS);
  return { ...options, hours: Math.ceil(hours * 100) / 100 };
}

/**
 * Makes a world smaller as long as an invariant still breaks in it.
 *
 * @returns exit status: 1 as it is a breach; 0 if the invariant holds from the start
 */
export async function shrink(options: SimulationOptions, sought: Sought): Promise<number> {
  const { invariant, further } = sought;
  const write = (world: SimulationOptions) => commandOf([...writeOptions(world), ...further]);
  let smallest = await cutAtBreach(options, sought);
  if (smallest === undefined) {
    console.log(`${invariant} holds in this world.`);
    return 0;
  }
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of listSmaller(smallest)) {
      const kept = await cutAtBreach(candidate, sought);
      if (kept === undefined) continue;
      smallest = kept;
      isSmaller = true;
      console.log(`smaller: ${write(smallest)}`);
      break;
    }
  }
  console.log(`Nothing more can be left out: ${write(smallest)}`);
  return 1;
}
