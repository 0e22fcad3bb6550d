import type { DemoOptions } from './options.ts';
import type { Plan } from './plan/plan.ts';
import { planScript } from './plan/script.ts';
import { startRelayer } from './processes/startRelayer.ts';
import type { Screen } from './show/createScreen.ts';
import { formatProgress } from './show/formatProgress.ts';
import { formatSeconds } from './show/formats.ts';
import { createSigners } from './users/createSigners.ts';
import { submitPlan } from './users/submitPlan.ts';
import type { Submitted } from './users/submitted.ts';
import { type Crash, stageCrash } from './watch/stageCrash.ts';
import type { Tally } from './watch/tally.ts';
import { watchRequests } from './watch/watchRequests.ts';
import { WORLD } from './world/settings.ts';
import type { World } from './world/startWorld.ts';

/** What came of the requests. */
export interface Played {
  readonly plan: Plan;
  readonly submitted: readonly Submitted[];
  readonly tally: Tally;
  readonly crash: Crash;
}

/** What playing takes. */
export interface PlayOptions {
  readonly world: World;
  readonly options: DemoOptions;
  readonly screen: Screen;
  /** Takes the relayers' processes, to stop them. */
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
}

async function startRelayers({ world, screen, stack }: PlayOptions) {
  const { official, other } = world.orders;
  const start = async (order: typeof official) => stack.use(await startRelayer(order));
  const [relayer] = await Promise.all([start(official), start(other)]);
  screen.log(
    `relayers   relayer A, official; relayer B, which may submit ${WORLD.priorityWindow} s after the signing, gets 70 %`,
  );
  return { relayer, restart: () => start(official) };
}

function planRequests({ world, options }: PlayOptions): Plan {
  const users = world.users.map(({ account }) => account.address);
  const { creditsPerUser, protocolFee } = WORLD;
  return planScript({ users, creditsPerUser, protocolFee, requests: options.requests });
}

function describeRelayers({ relayers: { official, other } }: World, { isDown }: Crash) {
  return [
    { name: official.name, address: official.account.address, note: isDown ? '(killed)' : '(official)' },
    { name: other.name, address: other.account.address, note: '(not official)' },
  ];
}

/** Has the users sign and submit everything. @param submitted - takes each request that the gateway has stored */
async function submitAll({ world, signal }: PlayOptions, plan: Plan, submitted: Submitted[]): Promise<void> {
  const signers = createSigners(world, BigInt(Math.floor(Date.now() / 1000)));
  const onSubmitted = (request: Submitted) => void submitted.push(request);
  await submitPlan({ gateway: world.client, signers, plan, onSubmitted, signal });
}

/**
 * Starts the relayers, has the users sign and submit everything, stages the crash, and waits until all requests have ended.
 *
 * @param play - see each field
 * @throws DemoError, GatewayError
 */
export async function playRequests(play: PlayOptions): Promise<Played> {
  const { world, options, screen, signal } = play;
  const { client: gateway, relayers, users } = world;
  const plan = planRequests(play);
  const { relayer, restart } = await startRelayers(play);
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const log = (line: string) => screen.log(`${formatSeconds(elapsed()).padStart(7)}  ${line}`);
  const submitted: Submitted[] = [];
  const total = options.requests;
  const crash = stageCrash({
    address: relayers.official.account.address,
    ...{ relayer, restart, total },
    now: () => performance.now(),
    onEvent: log,
  });
  const watching = watchRequests({
    gateway,
    signers: users.map(({ account }) => account.address),
    total,
    signal,
    async onTally(tally) {
      const shown = { tally, total, submitted: submitted.length, elapsedMs: elapsed() };
      screen.update(formatProgress({ ...shown, relayers: describeRelayers(world, crash) }));
      await crash.advance(tally);
    },
  });
  const submitting = submitAll(play, plan, submitted).then(() => {
    log(`${users.length} users have signed and submitted ${submitted.length} requests`);
  });
  const [tally] = await Promise.all([watching, submitting]);
  screen.settle();
  await crash.finish();
  log(`all ${total} requests have ended`);
  return { plan, submitted, tally, crash };
}
