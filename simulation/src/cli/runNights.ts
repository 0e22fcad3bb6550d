import { brokenBy, commandOf, inParallel, runWorld } from './runWorld.ts';

/** Numbers from one that nobody has lived yet, until stopped. */
function* freshSeeds(isStopped: () => boolean): Generator<string> {
  for (let seed = Date.now() % 100_000_000; !isStopped(); seed++) yield String(seed);
}

/**
 * Lives fresh worlds until SIGINT or SIGTERM, and says then what they have shown.
 *
 * @param args - of every world, without a seed
 * @returns exit status
 */
export async function runNights(args: readonly string[], jobs: number): Promise<number> {
  let isStopped = false;
  const found = new Map<string, string[]>();
  let [worlds, hours] = [0, 0];
  function sayAll(): void {
    isStopped = true;
    console.log(`${worlds} worlds, ${hours.toFixed(1)} virtual hours.`);
    for (const [invariant, commands] of found) {
      console.log(`  ${invariant}: ${commands.length} worlds, the first: ${commands[0]}`);
    }
    process.exit(found.size === 0 ? 0 : 1);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, sayAll);
  await inParallel(
    freshSeeds(() => isStopped),
    jobs,
    async (seed) => {
      const own = ['--seed', seed, ...args];
      const summary = await runWorld(own);
      if (isStopped) return;
      const broken = brokenBy(summary);
      worlds++;
      hours += summary.virtualMs / 3_600_000;
      console.log(`${commandOf(own)}: ${broken.join(', ') || 'holds'}`);
      for (const invariant of broken) {
        const first = summary.breaches.find((breach) => breach.invariant === invariant);
        console.log(`  ${invariant}: ${first?.text} (${first?.about})`);
        found.set(invariant, [...(found.get(invariant) ?? []), commandOf(own)]);
      }
    },
  );
  return 0;
}
