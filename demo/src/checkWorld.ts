import { checkData } from './check/checkData.ts';
import { checkExecutions } from './check/checkExecutions.ts';
import type { Checked } from './check/checked.ts';
import { checkFees } from './check/checkFees.ts';
import { checkUsers } from './check/checkUsers.ts';
import type { Execution } from './check/execution.ts';
import { payOutEarnings } from './check/payOutEarnings.ts';
import { type Earnings, readCredits, readEarnings } from './check/readEarnings.ts';
import { readExecutions } from './check/readExecutions.ts';
import type { Plan } from './plan/plan.ts';
import type { Submitted } from './users/submitted.ts';
import type { Crash } from './watch/stageCrash.ts';
import type { Tally } from './watch/tally.ts';
import type { World } from './world/startWorld.ts';

/** What the demo has found in the end. */
export interface Findings {
  readonly executions: readonly Execution[];
  readonly earnings: readonly Earnings[];
  /** Credits in base units. */
  readonly treasury: bigint;
  readonly checks: readonly Checked[];
}

/**
 * Reads everything back from the chain, and compares it with what was signed.
 *
 * @param world - whose chain and gateway
 * @param run - what was planned and submitted, what the gateway says of it, and the crash
 */
export async function checkWorld(
  world: World,
  run: { readonly plan: Plan; readonly submitted: readonly Submitted[]; readonly tally: Tally; readonly crash: Crash },
): Promise<Findings> {
  const { plan, submitted, tally, crash } = run;
  const executions = await readExecutions(world, { submitted, records: tally.records });
  await payOutEarnings(world);
  const [earnings, treasury, data, users] = await Promise.all([
    readEarnings(world, executions),
    readCredits(world, world.deployment.treasury),
    checkData(world, plan.expected),
    checkUsers(world, plan.expected),
  ]);
  const fees = checkFees({ earnings, treasury, expected: plan.expected });
  const crashed: Checked = {
    claim: 'relayer A was killed and started again',
    found: crash.isOver ? 'SIGKILL, then the same journal' : 'it was not',
    isTrue: crash.isOver,
  };
  const checks = [...checkExecutions(executions, crash.held), crashed, ...data, ...users, ...fees];
  return { executions, earnings, treasury, checks };
}
