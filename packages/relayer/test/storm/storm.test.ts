import { setTimeout as pause } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createSeededRandom, type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { type Program, startWorld, type World } from '@prism-gateway/testing/world';
import { expect, test } from 'vitest';
import { type PlannedRequest, planWork } from './planWork.ts';
import { executionKey, readTruth } from './readTruth.ts';

const RELAYERS = sized({ small: 3, long: 5 });
/** The others are not official: they get 70 % of a fee, and have to wait for the priority window. */
const OFFICIAL = sized({ small: 2, long: 3 });
const USERS = sized({ small: 6, long: 100 });
const REQUESTS = sized({ small: 24, long: 1000 });
const CRASHES = sized({ small: 2, long: 60 });
const SEED = 20_261_121;
/** One call in 25 to the node goes wrong. */
const FAULT_SHARE = 0.04;
const CREDITS_PER_ETH = 3_000_000n;
const TIMEOUT_MS = sized({ small: 180_000, long: 580_000 });

/** Random faults of calls to the node. */
const FAULTS: readonly Exclude<ReturnType<RpcFaultPlan>, undefined>[] = [
  { kind: 'dropBefore' },
  { kind: 'dropAfter' },
  { kind: 'delay', ms: 100 },
  { kind: 'rateLimit' },
  { kind: 'serverError' },
  { kind: 'serverErrorAfter' },
  { kind: 'garbage' },
  { kind: 'wrongId' },
  { kind: 'answer', result: '0xnonsense' },
  { kind: 'error', code: -32603, message: 'internal error' },
  { kind: 'lag', blocks: 2 },
];

/** How often relayers are asked whether they are busy, and how often in all. */
const ASK_INTERVAL_MS = 5;
const MAX_ASKS = 100;

interface Posted {
  readonly plan: PlannedRequest;
  readonly requestId: string;
}

const planFaults =
  (random: () => number): RpcFaultPlan =>
  () =>
    random() >= FAULT_SHARE ? undefined : FAULTS[Math.floor(random() * FAULTS.length)];

/** Looks for a relayer that has claimed something and not yet reported it. */
async function findBusy(crew: readonly Program[]): Promise<Program | undefined> {
  for (let ask = 0; ask < MAX_ASKS; ask += 1) {
    const member = crew[ask % crew.length];
    if (((await member?.readMetric('prism_relayer_in_flight')) ?? 0) > 0) return member;
    await pause(ASK_INTERVAL_MS);
  }
  return undefined;
}

/** Posts in order for each user, many users at once. */
async function postAll(world: World, planned: readonly PlannedRequest[]): Promise<readonly Posted[]> {
  const posted: Posted[] = [];
  for (let next = 0; next < planned.length; next += USERS) {
    const some = planned.slice(next, next + USERS);
    const records = await Promise.all(some.map(({ body }) => world.client.submitRequest(body as never)));
    for (const [index, plan] of some.entries()) posted.push({ plan, requestId: records[index]!.requestId });
  }
  return posted;
}

async function checkRecord(truth: Awaited<ReturnType<typeof readTruth>>, { plan }: Posted, record: RequestRecord) {
  const executed = truth.executions.get(executionKey(plan.signer, plan.nonce)) ?? [];
  const expected = plan.fate === 'succeeds' ? 'success' : 'failed';
  expect.soft(record.status, `${record.requestId}: ${record.errorMessage}`).toBe(expected);
  // Never twice, and not at all if it failed.
  expect.soft(executed.length).toBe(plan.fate === 'succeeds' ? 1 : 0);
  if (plan.fate === 'succeeds') expect.soft(record.txHash).toBe(executed[0]);
  else expect.soft(record.errorMessage).toContain('NotPrismOwner');
  if (plan.fate === 'fails') expect.soft(await truth.dataOf(plan.cloudId, plan.dataId).catch(() => '0x')).toBe('0x');
}

// Shows RELAY-5, RELAY-7.
test('every request ends in its true state, though relayers crash and the node fails', async () => {
  await using world = await startWorld({
    users: USERS,
    relayers: RELAYERS,
    officialRelayers: OFFICIAL,
    contracts: { priorityWindow: 2 },
  });
  await using proxy = await startRpcFaultProxy({ target: world.devnet.rpcUrl });
  const env = {
    RPC_URL: proxy.url,
    // Long enough for those before it on a busy machine: whose turn does not come meanwhile is given up.
    GIVE_UP_SECONDS: '15',
    MAX_IN_FLIGHT: String(sized({ small: 12, long: 60 })),
    BUMP_AFTER_SECONDS: '2',
    POLL_MAX_MS: '500',
  };
  const planned = await planWork(world, REQUESTS);
  const crew = await Promise.all(world.relayerKeys.map((_, index) => world.startRelayer({ index, env })));
  proxy.setPlan(planFaults(createSeededRandom(SEED)));
  const random = createSeededRandom(SEED);
  const posting = postAll(world, planned);
  for (let crash = 0; crash < CRASHES; crash += 1) {
    await pause(200 * random());
    const member = (await findBusy(crew)) ?? crew[Math.floor(random() * crew.length)];
    await member?.restart();
  }
  const posted = await posting;
  const ids = posted.map(({ requestId }) => requestId);
  const records = await world.client
    .waitForRequests(ids, { timeoutMs: TIMEOUT_MS, pollIntervalMs: 200 })
    .catch(async (error: unknown) => {
      for (const { output } of crew) console.error(output.slice(-40).join('\n'));
      throw error;
    });
  expect(await Promise.all(crew.map((member) => member.stop()))).toEqual(Array(RELAYERS).fill(0));

  const truth = await readTruth(world);
  for (const [index, record] of records.entries()) await checkRecord(truth, posted[index]!, record);
  // What was written is what the last one wrote.
  const last = new Map(
    planned.filter(({ fate }) => fate === 'succeeds').map((plan) => [`${plan.cloudId}${plan.dataId}`, plan]),
  );
  for (const { cloudId, dataId, payload } of last.values())
    expect.soft(await truth.dataOf(cloudId, dataId)).toBe(payload);
  for (const { address, paidWei, earnedCredits } of truth.accounts) {
    expect.soft(paidWei, `${address} paid more than it earned`).toBeLessThanOrEqual(earnedCredits / CREDITS_PER_ETH);
  }
});
