import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Summary } from '../simulate.ts';
import { brokenBy, commandOf, inParallel, runWorld } from './runWorld.ts';

/** A world that is lived again and again. */
interface KnownWorld {
  readonly args: string;
  /** Invariants that break in it, and why they are not mended yet; none: all must hold. */
  readonly breaches?: Readonly<Record<string, string>>;
  /** It is lived twice, and must be the same both times. */
  readonly isTwice?: true;
}

interface Known {
  /** Arguments of a world that nobody has lived yet. */
  readonly fresh: string;
  readonly worlds: readonly KnownWorld[];
}

const readKnown = () => JSON.parse(readFileSync(new URL('../../expected.json', import.meta.url), 'utf8')) as Known;

const FRESH = 'fresh';

/** A seed that each commit has of its own, so that whoever repeats its run lives the same world; outside of git any. */
function chooseFreshSeed(): string {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', cwd: import.meta.dirname });
  const commit = Number.parseInt(String(stdout).slice(0, 7), 16);
  return String(Number.isNaN(commit) ? Date.now() % 100_000_000 : commit);
}

/** @returns what is wrong with what a world has shown */
function compare({ breaches = {} }: KnownWorld, summary: Summary, isFresh: boolean): readonly string[] {
  const broken = brokenBy(summary);
  const first = (invariant: string) => summary.breaches.find((breach) => breach.invariant === invariant)?.text;
  const unexpected = broken.filter((name) => !(name in breaches)).map((name) => `${name} breaks: ${first(name)}`);
  if (isFresh) return unexpected;
  const mended = Object.keys(breaches).filter((name) => !broken.includes(name));
  return [...unexpected, ...mended.map((name) => `${name} holds now: take it out of simulation/expected.json`)];
}

/**
 * Lives the known worlds, one of them twice, and one that nobody has lived yet: in it, only what breaks in a known world may break.
 *
 * @returns exit status
 */
export async function runKnown(jobs: number): Promise<number> {
  const { fresh, worlds } = readKnown();
  const all = Object.assign({}, ...worlds.map(({ breaches }) => breaches));
  const seed = chooseFreshSeed();
  const chosen: readonly (KnownWorld & { readonly id: string })[] = [
    ...worlds.filter(({ isTwice }) => isTwice).map((world) => ({ ...world, id: `${world.args} again` })),
    ...worlds.map((world) => ({ ...world, id: world.args })),
    { args: `--seed ${seed} ${fresh}`, breaches: all, id: FRESH },
  ];
  const digests = new Map<string, string>();
  let status = 0;
  let [virtualMs, startMs] = [0, performance.now()];
  await inParallel(chosen, jobs, async (world) => {
    const args = world.args.split(' ');
    const summary = await runWorld(args);
    virtualMs += summary.virtualMs;
    const faults = [...compare(world, summary, world.id === FRESH)];
    const before = digests.get(world.args) ?? summary.digest;
    digests.set(world.args, before);
    if (before !== summary.digest) faults.push('The same seed gave another world.');
    if (faults.length > 0) status = 1;
    console.log(
      `${faults.length === 0 ? 'ok ' : 'NOT'} ${commandOf(args)}: ${brokenBy(summary).join(', ') || 'holds'}`,
    );
    for (const fault of faults) console.log(`      ${fault}`);
  });
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${seconds.toFixed(0)} s.`);
  return status;
}
