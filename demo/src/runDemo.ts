import { checkWorld, type Findings } from './checkWorld.ts';
import type { DemoError } from './demoError.ts';
import { describeWorld } from './describeWorld.ts';
import { playLiar } from './liar/playLiar.ts';
import type { DemoOptions } from './options.ts';
import { playRequests } from './playRequests.ts';
import type { Screen } from './show/createScreen.ts';
import { formatActions, formatChecks, formatEarnings, formatRequests, formatWriteGas } from './show/formatReport.ts';
import { formatSeconds } from './show/formats.ts';
import { startWorld, type World } from './world/startWorld.ts';

/** What a run takes. */
export interface RunOptions {
  readonly options: DemoOptions;
  readonly screen: Screen;
  /** Folder for data and logs. */
  readonly dir: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

function showFindings(
  screen: Screen,
  { executions, earnings, treasury, checks }: Findings,
  options: DemoOptions,
): void {
  const parts = [
    ...(options.verbose ? [formatRequests(executions)] : []),
    formatActions(executions),
    [formatWriteGas(executions)],
    formatEarnings(earnings, treasury),
    formatChecks(checks),
  ];
  for (const lines of parts) for (const line of ['', ...lines]) screen.log(line);
}

/** Shows what there is to play with, and waits for Ctrl-C, or for a process that ends by itself. */
async function keepRunning({
  world,
  screen,
  dir,
  interrupted,
  failed,
}: {
  readonly world: World;
  readonly failed: AbortSignal;
} & Pick<RunOptions, 'screen' | 'dir' | 'interrupted'>): Promise<void> {
  for (const line of ['', ...describeWorld(world, dir), '', 'Left running: Ctrl-C stops it all.']) screen.log(line);
  const either = AbortSignal.any([interrupted, failed]);
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
  failed.throwIfAborted();
  screen.log('Stopping.');
}

/**
 * Plays the whole demo, and stops everything that it has started.
 *
 * @param run - see each field
 * @returns whether everything is as it must be
 * @throws DemoError, GatewayError, AnvilStartError, DeploymentError; the reason of `interrupted`
 */
export async function runDemo({ options, screen, dir, interrupted }: RunOptions): Promise<boolean> {
  const startedAt = performance.now();
  const failure = new AbortController();
  const signal = AbortSignal.any([interrupted, failure.signal]);
  const onUnexpectedEnd = (error: DemoError) => failure.abort(error);
  const onStep = (line: string) => screen.log(line);
  const stack = new AsyncDisposableStack();
  try {
    const world = stack.use(await startWorld({ users: options.users, dir, onStep, onUnexpectedEnd, signal }));
    const played = await playRequests({ world, options, screen, stack, signal });
    const honest = await checkWorld(world, played);
    const { expected } = played.plan;
    const lies = await playLiar({ world, expected, screen, stack, dir, onUnexpectedEnd, signal });
    const findings = { ...honest, checks: [...honest.checks, ...lies] };
    showFindings(screen, findings, options);
    const isGood = findings.checks.every(({ isTrue }) => isTrue);
    const verdict = isGood ? 'Everything is as it must be' : 'NOT everything is as it must be';
    for (const line of ['', `${verdict}; ${formatSeconds(performance.now() - startedAt)} in all.`]) screen.log(line);
    if (options.keep) await keepRunning({ world, screen, dir, interrupted, failed: failure.signal });
    return isGood;
  } catch (error) {
    // What else is under way ends, too; and where a process has ended by itself, that is the reason, whatever it has led to.
    failure.abort(error);
    throw failure.signal.reason;
  } finally {
    await stack.disposeAsync();
  }
}
