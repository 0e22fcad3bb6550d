import type { Action } from '@prism-gateway/protocol';
import { type Act, createPlanner, type Plan, type PlannerOptions, type Stage } from './createPlanner.ts';

/** Own requests of a user that the story needs: those of its stages before the last. */
export const MIN_OWN_REQUESTS = 11;
/** Requests that hold a write of every user. */
export const MULTI_USER_BATCHES = 2;

const CREDIT = 10n ** 18n;
/** Enough for all fees of a prism with 60 requests. */
const FUNDS = { diary: 300_000n * CREDIT, gift: 20_000n * CREDIT, album: 300_000n * CREDIT };

/** Each user has a diary for itself, a prism to give away, and perhaps an album. */
const diary = (user: number) => `diary ${user}`;
const gift = (user: number) => `gift ${user}`;
const album = (user: number) => `album ${user}`;

/** Acts that fill up the last stage, again and again: the album is made by the first of them. */
const fillers: readonly ((user: number) => Act)[] = [
  (user) => ({ user, action: 'WRITE_DATA_FOR', name: album(user) }),
  (user) => ({ user, action: 'WRITE_DATA_FOR', name: diary(user) }),
  (user) => ({ user, action: 'MODIFY_DATA_FOR', name: album(user) }),
  (user) => ({ user, action: 'BATCH_WRITE_DATA_FOR', name: album(user), entries: 3 }),
  (user) => ({ user, action: 'WRITE_DATA_FOR', name: diary(user) }),
  (user) => ({ user, action: 'BATCH_MODIFY_DATA_FOR', name: album(user), entries: 2 }),
  (user) => ({ user, action: 'DELETE_DATA_FOR', name: album(user) }),
  (user) => ({ user, action: 'MODIFY_DATA_FOR', name: diary(user) }),
];

function planStart(user: number): readonly Act[] {
  return [
    { user, action: 'CREATE_PRISM_WITH_DATA_FOR', name: diary(user), funds: FUNDS.diary, entries: 2 },
    { user, action: 'CREATE_PRISM_FOR', name: gift(user), funds: FUNDS.gift },
    { user, action: 'WRITE_DATA_FOR', name: diary(user) },
    { user, action: 'MODIFY_DATA_FOR', name: diary(user) },
    { user, action: 'BATCH_WRITE_DATA_FOR', name: diary(user), entries: 3 },
  ];
}

function planGift(user: number, users: number): readonly Act[] {
  return [
    { user, action: 'BATCH_MODIFY_DATA_FOR', name: diary(user), entries: 3 },
    { user, action: 'DELETE_DATA_FOR', name: diary(user) },
    { user, action: 'TRANSFER_PRISM_FOR', name: gift(user), to: (user + 1) % users },
  ];
}

function planAcceptance(user: number, users: number): readonly Act[] {
  const received = gift((user + users - 1) % users);
  return [
    { user, action: 'ACCEPT_TRANSFER_FOR', name: received },
    { user, action: 'BATCH_DELETE_DATA_FOR', name: diary(user), entries: 2 },
    { user, action: 'DELETE_PRISM_FOR', name: received },
  ];
}

function planRest(user: number, count: number): readonly Act[] {
  if (count === 0) return [];
  const rest = Array.from({ length: count - 1 }, (_, index) => fillers[index % fillers.length]?.(user));
  const creation: Act = { user, action: 'CREATE_PRISM_FOR', name: album(user), funds: FUNDS.album };
  return [creation, ...rest.filter((act) => act !== undefined)];
}

function countActions(stages: readonly Stage[]): Plan['counts'] {
  const counts = new Map<Action, number>();
  const count = (action: Action) => counts.set(action, (counts.get(action) ?? 0) + 1);
  for (const stage of stages) {
    if (stage.kind === 'own') for (const { action } of stage.steps) count(action);
    else count('BATCH_MULTI_USER_WRITE_DATA');
  }
  return counts;
}

/**
 * Plans the story: all twelve actions, in five stages. Requests wait for one another only within a user, from a transfer to its
 * acceptance, and at the two multi-user batches, so that there is always one that can run.
 *
 * @param options.requests - how many in all
 */
export function planScript(options: PlannerOptions & { readonly requests: number }): Plan {
  const planner = createPlanner(options);
  const users = options.users.length;
  const own = options.requests - MULTI_USER_BATCHES;
  const stage = (kind: Stage['kind'], plan: (user: number) => readonly Act[]) => {
    for (const user of options.users.keys()) for (const act of plan(user)) planner.act(act);
    planner.endStage(kind);
  };
  const writeDiary = (user: number): readonly Act[] => [{ user, action: 'WRITE_DATA_FOR', name: diary(user) }];
  stage('own', planStart);
  stage('multiUserBatch', writeDiary);
  stage('own', (user) => planGift(user, users));
  stage('multiUserBatch', writeDiary);
  stage('own', (user) => {
    // The first users take the remainder.
    const count = Math.floor(own / users) + (user < own % users ? 1 : 0) - MIN_OWN_REQUESTS;
    return [...planAcceptance(user, users), ...planRest(user, count)];
  });
  const { stages, expected } = planner.finish();
  return { stages, expected, counts: countActions(stages) };
}
