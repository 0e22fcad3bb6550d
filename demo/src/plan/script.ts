import type { Action } from '@prism-gateway/protocol';
import { type BookOptions, createBook } from './createBook.ts';
import { createPlanner, type Planner } from './createPlanner.ts';
import type { Plan, Stage } from './plan.ts';

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

type Act = (planner: Planner, user: number) => void;

/** What fills the last stage up, again and again: the album is made by the first of them. */
const fillers: readonly Act[] = [
  (planner, user) => planner.writeData(user, album(user)),
  (planner, user) => planner.writeData(user, diary(user)),
  (planner, user) => planner.modifyData(user, album(user)),
  (planner, user) => planner.batchWriteData(user, { name: album(user), entries: 3 }),
  (planner, user) => planner.writeData(user, diary(user)),
  (planner, user) => planner.batchModifyData(user, { name: album(user), entries: 2 }),
  (planner, user) => planner.deleteData(user, album(user)),
  (planner, user) => planner.modifyData(user, diary(user)),
];

function planStart(planner: Planner, user: number): void {
  planner.createPrism(user, { name: diary(user), funds: FUNDS.diary, entries: 2 });
  planner.createPrism(user, { name: gift(user), funds: FUNDS.gift, entries: 0 });
  planner.writeData(user, diary(user));
  planner.modifyData(user, diary(user));
  planner.batchWriteData(user, { name: diary(user), entries: 3 });
}

function planGift(planner: Planner, { user, users }: { readonly user: number; readonly users: number }): void {
  planner.batchModifyData(user, { name: diary(user), entries: 3 });
  planner.deleteData(user, diary(user));
  planner.transferPrism(user, { name: gift(user), to: (user + 1) % users });
}

function planAcceptance(planner: Planner, { user, users }: { readonly user: number; readonly users: number }): void {
  const received = gift((user + users - 1) % users);
  planner.acceptTransfer(user, received);
  planner.batchDeleteData(user, { name: diary(user), entries: 2 });
  planner.deletePrism(user, received);
}

function planRest(planner: Planner, { user, count }: { readonly user: number; readonly count: number }): void {
  if (count === 0) return;
  planner.createPrism(user, { name: album(user), funds: FUNDS.album, entries: 0 });
  for (let index = 0; index < count - 1; index++) fillers[index % fillers.length]?.(planner, user);
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
export function planScript(options: BookOptions & { readonly requests: number }): Plan {
  const book = createBook(options);
  const planner = createPlanner(book);
  const users = options.users.length;
  const all = [...options.users.keys()];
  const own = options.requests - MULTI_USER_BATCHES;
  for (const user of all) planStart(planner, user);
  book.endStage('own');
  for (const user of all) planner.writeData(user, diary(user));
  book.endStage('multiUserBatch');
  for (const user of all) planGift(planner, { user, users });
  book.endStage('own');
  for (const user of all) planner.writeData(user, diary(user));
  book.endStage('multiUserBatch');
  for (const user of all) planAcceptance(planner, { user, users });
  // What does not divide evenly goes to the first users.
  for (const user of all) {
    const count = Math.floor(own / users) + (user < own % users ? 1 : 0) - MIN_OWN_REQUESTS;
    planRest(planner, { user, count });
  }
  book.endStage('own');
  const { stages, expected } = book.finish();
  return { stages, expected, counts: countActions(stages) };
}
