import { formatProgress } from './formatReport.ts';
import { formatSeconds } from './formats.ts';
import type { DemoOptions } from './options.ts';
import type { Plan } from './plan/createPlanner.ts';
import { planScript } from './plan/script.ts';
import { type Crash, stageCrash } from './stageCrash.ts';
import { type DemoWorld, indexOf, WORLD } from './startDemoWorld.ts';
import { type Submitted, submitPlan } from './submitPlan.ts';
import { type Tally, watchRequests } from './watchRequests.ts';

/** The requests and their results. */
export interface Played {
  readonly plan: Plan;
  readonly submitted: readonly Submitted[];
  readonly tally: Tally;
  readonly crash: Crash;
}

interface PlayOptions {
  readonly demo: DemoWorld;
  readonly options: DemoOptions;
  /** Takes each line of the output. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Pause between two lines of progress. */
const SHOW_INTERVAL_MS = 1000;

async function startRelayers({ demo: { world, relayers }, options, print }: PlayOptions) {
  const env = {
    // Half of the users' next requests, so that a dead relayer does not hold them all.
    MAX_IN_FLIGHT: String(Math.max(1, Math.floor(options.users / 2))),
    // The chain has a block in a moment: there is no use in pausing as long as on one with blocks of 12 s.
    POLL_MIN_MS: '50',
    POLL_MAX_MS: '500',
    DRAIN_SECONDS: '3',
  };
  const [relayer] = await Promise.all(
    (['official', 'other'] as const).map((key) =>
      world.startRelayer({ index: indexOf(key), title: relayers[key].name, env }),
    ),
  );
  print(
    `relayers   relayer A, official; relayer B, which may submit ${WORLD.priorityWindow} s after the signing, gets 70 %`,
  );
  // Both have started.
  return relayer!;
}

function planRequests({ demo, options }: PlayOptions): Plan {
  const users = demo.users.map(({ account }) => account.address);
  const { creditsPerUser, protocolFee } = WORLD;
  return planScript({ users, creditsPerUser, protocolFee, requests: options.requests });
}

/**
 * Starts the relayers, has the users sign and submit everything, stages the crash, and waits until all requests have ended.
 *
 * @param play - see each field
 * @throws DemoError, GatewayError
 */
export async function playRequests(play: PlayOptions): Promise<Played> {
  const { demo, options, print, signal } = play;
  const { official } = demo.relayers;
  const plan = planRequests(play);
  const relayer = await startRelayers(play);
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const log = (line: string) => print(`${formatSeconds(elapsed()).padStart(7)}  ${line}`);
  const submitted: Submitted[] = [];
  const total = options.requests;
  let shownAt = -SHOW_INTERVAL_MS;
  const crash = stageCrash({ address: official.account.address, relayer, total, onEvent: log });
  const watching = watchRequests({
    ...{ demo, total, signal },
    async onTally(tally) {
      if (elapsed() - shownAt >= SHOW_INTERVAL_MS) {
        shownAt = elapsed();
        print(formatProgress({ tally, total, submitted: submitted.length, elapsedMs: shownAt }));
      }
      await crash.advance(tally);
    },
  });
  const onSubmitted = (request: Submitted) => void submitted.push(request);
  const submitting = submitPlan({ demo, plan, onSubmitted, signal }).then(() => {
    log(`${demo.users.length} users have signed and submitted ${submitted.length} requests`);
  });
  const [tally] = await Promise.all([watching, submitting]);
  await crash.finish();
  log(`all ${total} requests have ended`);
  return { plan, submitted, tally, crash };
}
