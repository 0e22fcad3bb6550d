import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { REQUEST_STATUSES } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { ListPage, ListQuery, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, anyTxHash, pendingRequest, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { applyMove, type ModelRecord, type Move, type MoveAnswer, requestIdOf } from './applyMove.ts';
import { compareListed, expectFeeds, expectLists, expectStats } from './listChecks.ts';
import type { PlannedCall, PlannedStep } from './stepsArbitrary.ts';

/** A call with everything it needs. */
interface ReadyCall {
  readonly plan: PlannedCall;
  readonly task: { readonly move: Move } | { readonly query: ListQuery };
}

/** Turns planned steps into calls; it knows every record that was made so far. */
interface CallPlanner {
  readonly signers: readonly string[];
  readonly chains: readonly string[];
  /** @returns the step's calls; a planned repetition becomes two */
  prepare(step: PlannedStep): ReadyCall[];
}

/** Makes a planner whose signers, chains and relayers are its own. */
function createCallPlanner(): CallPlanner {
  const [signers, chains, relayers] = [[1, 2, 3].map(anyAddress), [1, 2].map(anyChain), [1, 2, 3].map(anyAddress)];
  const created: StoredRequest[] = [];
  let clockMs = START;
  const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T; // None of the lists is empty.

  function newRecord({ signer, chain, skewMs }: PlannedCall): StoredRequest {
    const fields = { signer: at(signers, signer), chainName: at(chains, chain), createdAt: clockMs + skewMs };
    const record = pendingRequest(fields);
    created.unshift(record);
    return record;
  }

  function moveOf(call: PlannedCall): Move {
    const { kind, relayer: index, skewMs, leaseMs } = call;
    // The first call on a record may come before any was made: it finds none.
    const known = created.length === 0 ? pendingRequest() : at(created, call.record);
    const { requestId } = known;
    const [relayer, now] = [at(relayers, index), clockMs + skewMs];
    if (kind === 'create') return { kind, record: newRecord(call) };
    if (kind === 'createAgain') return { kind: 'create', record: created.length === 0 ? newRecord(call) : known };
    const lease = leaseMs === undefined ? {} : { leaseExpiredAt: now - leaseMs };
    const claim = { requestId, relayer, claimId: randomUUID(), now, ...lease };
    if (kind === 'claim' || kind === 'claimTwice') return { kind: 'claim', claim };
    if (kind === 'renew') return { kind, claim };
    if (kind === 'release') return { kind, release: { requestId, relayer, releaseId: randomUUID(), now } };
    if (kind === 'get') return { kind, requestId };
    const success = { status: 'success', txHash: anyTxHash() } as const;
    const outcome = call.succeeds ? success : ({ status: 'failed', errorMessage: 'the Forwarder reverted' } as const);
    return { kind: 'report', report: { requestId, relayer, reportId: randomUUID(), now, outcome } };
  }

  function queryOf({ signer, chain, status, relayer, succeeds, turns }: PlannedCall): ListQuery {
    const filters = [
      { status: at(REQUEST_STATUSES, status) },
      { signer: at(signers, signer) },
      { chainName: at(chains, chain), status: at(REQUEST_STATUSES, status) },
    ];
    return { filter: at(filters, relayer), order: succeeds ? 'asc' : 'desc', limit: turns * 10 + 1 };
  }

  return {
    signers,
    chains,
    prepare({ advanceMs, calls }) {
      clockMs += advanceMs;
      return calls.flatMap((plan): ReadyCall[] => {
        if (plan.kind === 'list') return [{ plan, task: { query: queryOf(plan) } }];
        const call = { plan, task: { move: moveOf(plan) } };
        return plan.kind.endsWith('Twice') ? [call, { ...call, plan: { ...plan, process: plan.process + 1 } }] : [call];
      });
    },
  };
}

/** A move that was made, with what the store answered. */
interface AnsweredMove {
  readonly move: Move;
  readonly answer: MoveAnswer;
}

/**
 * Looks for an order in which the model answers parallel moves on one record just as the store did, and leaves the record as the
 * store shows it afterwards. There is one for every store whose moves are atomic (linearizable); if two claims won, a
 * stranger's report was taken or a status went backwards, there is none.
 *
 * @param state - the record before the moves
 * @param moves - on this record, all made at the same time
 * @param after - the record as the store shows it once they are answered
 * @returns the record after them; undefined if no order explains what was seen
 */
function explainAnswers(
  state: ModelRecord | undefined,
  moves: readonly AnsweredMove[],
  after: MoveAnswer,
): { readonly state: ModelRecord | undefined } | undefined {
  if (moves.length === 0) return isDeepStrictEqual(state?.record, after) ? { state } : undefined;
  for (const [i, { move, answer }] of moves.entries()) {
    const applied = applyMove(state, move);
    if (!isDeepStrictEqual(applied.answer, answer)) continue;
    const explained = explainAnswers(applied.state, moves.toSpliced(i, 1), after);
    if (explained !== undefined) return explained;
  }
  return undefined;
}

type Model = Map<string, ModelRecord>;

async function makeMove(store: RequestStore, move: Move): Promise<MoveAnswer> {
  if (move.kind === 'claim') return await store.claim(move.claim);
  if (move.kind === 'report') return await store.report(move.report);
  if (move.kind === 'get') return await store.get(move.requestId);
  if (move.kind === 'renew') return (await store.claimAll([move.claim]))[0];
  if (move.kind === 'release') return await store.release(move.release);
  return await store.create(move.record);
}

/** The facts that a page is checked against. */
interface PageContext {
  readonly query: ListQuery;
  readonly model: Model;
  /** Ids of the requests that are being released while the page is read: they may be pending again. */
  readonly releasing: ReadonlySet<string>;
}

/** Checks what holds of a page even while others write. */
function expectPage(page: ListPage, { query, model, releasing }: PageContext): void {
  expect(page.items.length).toBeLessThanOrEqual(query.limit);
  expect(page.items).toStrictEqual([...page.items].sort(compareListed(query.order)));
  expect(new Set(page.items.map(({ requestId }) => requestId)).size).toBe(page.items.length);
  if (query.filter.status !== 'pending') return;
  const claimed = page.items.filter(
    ({ requestId }) => !releasing.has(requestId) && (model.get(requestId)?.record.status ?? 'pending') !== 'pending',
  );
  expect(claimed, 'a page of pending requests shows one that was known to be claimed').toStrictEqual([]);
}

/** Makes all calls of a step at the same time. */
async function makeCalls(
  calls: readonly ReadyCall[],
  { stores, model }: { stores: readonly RequestStore[]; model: Model },
): Promise<AnsweredMove[]> {
  const moves = calls.flatMap(({ task }) => ('move' in task ? [task.move] : []));
  const releasing = new Set(moves.filter(({ kind }) => kind === 'release').map(requestIdOf));
  const makeCall = async ({ plan, task }: ReadyCall): Promise<AnsweredMove[]> => {
    for (let turn = 0; turn < plan.turns; turn++) await nextTurn();
    // There are handles, and as many calls of each.
    const store = stores[plan.process % stores.length] as RequestStore;
    if ('move' in task) return [{ move: task.move, answer: await makeMove(store, task.move) }];
    expectPage(await store.list(task.query), { query: task.query, model, releasing });
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
export interface StorePair extends Pick<StoreUnderTest<RequestStore>, 'catchUp'> {
  readonly store: RequestStore;
  readonly peer: RequestStore;
}

/** A run of the model. */
export interface Run {
  readonly steps: readonly PlannedStep[];
  /** Limits of the pages of the walks at the end. */
  readonly limits: readonly number[];
  /** The store's records from runs before. */
  readonly earlier: readonly StoredRequest[];
}

/**
 * Plays a run of parallel steps and checks every answer, and in the end every list and figure, against the model.
 *
 * @returns all that the store holds now
 * @throws AssertionError or Error that shows what the model cannot explain
 */
export async function runSteps({ store, peer, catchUp }: StorePair, run: Run): Promise<readonly StoredRequest[]> {
  const model: Model = new Map();
  const planner = createCallPlanner();
  for (const step of run.steps) {
    const answered = await makeCalls(planner.prepare(step), { stores: [store, peer], model });
    await explainStep(model, answered, peer);
  }
  await catchUp?.();
  const records = [...run.earlier, ...[...model.values()].map(({ record }) => record)];
  for (const one of [store, peer]) await expectStats(one, records);
  const own = { chains: planner.chains, signers: planner.signers };
  await expectFeeds(peer, { records, chains: planner.chains });
  await expectLists(peer, { records, own, limits: run.limits });
  return records;
}
