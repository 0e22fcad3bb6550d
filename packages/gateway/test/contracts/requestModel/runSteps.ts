import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ListPage, ListQuery, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { ALL } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { type ModelRecord, type Move, type MoveAnswer, requestIdOf } from './applyMove.ts';
import { type AnsweredMove, explainAnswers } from './explainAnswers.ts';
import { compareListed, expectFeeds, expectLists, expectStats } from './listChecks.ts';
import { createCallPlanner, type ReadyCall } from './planCalls.ts';
import type { PlannedStep } from './stepsArbitrary.ts';

type Model = Map<string, ModelRecord>;

async function makeMove(store: RequestStore, move: Move): Promise<MoveAnswer> {
  if (move.kind === 'claim') return await store.claim(move.claim);
  if (move.kind === 'report') return await store.report(move.report);
  if (move.kind === 'get') return await store.get(move.requestId);
  if (move.kind === 'renew') return (await store.claimAll([move.claim], ALL))[0];
  if (move.kind === 'release') return await store.release(move.release);
  return await store.create(move.record);
}

/** What holds of a page even while others write. */
function expectPage(page: ListPage, { query, model }: { query: ListQuery; model: Model }): void {
  expect(page.items.length).toBeLessThanOrEqual(query.limit);
  expect(page.items).toStrictEqual([...page.items].sort(compareListed(query.order)));
  expect(new Set(page.items.map(({ requestId }) => requestId)).size).toBe(page.items.length);
  if (query.filter.status !== 'pending') return;
  const claimed = page.items.filter(
    ({ requestId }) => (model.get(requestId)?.record.status ?? 'pending') !== 'pending',
  );
  expect(claimed, 'a page of pending requests shows one that was known to be claimed').toStrictEqual([]);
}

/** Makes all calls of a step at the same time. */
async function makeCalls(
  calls: readonly ReadyCall[],
  { stores, model }: { stores: readonly RequestStore[]; model: Model },
): Promise<AnsweredMove[]> {
  const makeCall = async ({ plan, task }: ReadyCall): Promise<AnsweredMove[]> => {
    for (let turn = 0; turn < plan.turns; turn++) await nextTurn();
    // There are handles, and as many calls of each.
    const store = stores[plan.process % stores.length] as RequestStore;
    if ('move' in task) return [{ move: task.move, answer: await makeMove(store, task.move) }];
    expectPage(await store.list(task.query), { query: task.query, model });
    return [];
  };
  return (await Promise.all(calls.map(makeCall))).flat();
}

/** Has the model explain what was seen, record by record, and go on from there. */
async function explainStep(model: Model, answered: readonly AnsweredMove[], store: RequestStore): Promise<void> {
  for (const [requestId, moves] of Map.groupBy(answered, ({ move }) => requestIdOf(move))) {
    const before = model.get(requestId);
    const after = await store.get(requestId);
    const explained = explainAnswers(before, moves, after);
    if (explained === undefined) {
      const seen = JSON.stringify({ before, moves, after }, null, 2);
      throw new Error(`No order of these parallel calls explains their answers and what they left:\n${seen}`);
    }
    if (explained.state !== undefined) model.set(requestId, explained.state);
  }
}

/** A store with the handles of two processes. */
export interface StorePair extends Pick<StoreUnderTest<RequestStore>, 'settle'> {
  readonly store: RequestStore;
  readonly peer: RequestStore;
}

/** What is played on it. */
export interface Run {
  readonly steps: readonly PlannedStep[];
  /** Limits of the pages of the walks at the end. */
  readonly limits: readonly number[];
  /** What the store holds from runs before. */
  readonly earlier: readonly StoredRequest[];
}

/**
 * Plays a run of parallel steps and checks every answer, and in the end every list and figure, against the model.
 *
 * @returns all that the store holds now
 * @throws AssertionError or Error that shows what the model cannot explain
 */
export async function runSteps({ store, peer, settle }: StorePair, run: Run): Promise<readonly StoredRequest[]> {
  const model: Model = new Map();
  const planner = createCallPlanner();
  for (const step of run.steps) {
    const answered = await makeCalls(planner.prepare(step), { stores: [store, peer], model });
    await explainStep(model, answered, peer);
  }
  await settle?.();
  const records = [...run.earlier, ...[...model.values()].map(({ record }) => record)];
  for (const one of [store, peer]) await expectStats(one, records);
  const own = { chains: planner.chains, signers: planner.signers };
  await expectFeeds(peer, { records, chains: planner.chains });
  await expectLists(peer, { records, own, limits: run.limits });
  return records;
}
