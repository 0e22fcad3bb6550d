import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import type { ActionInput } from '../user/actionInput.ts';

/** An action and its input. */
export type ActionOrder<A extends SignedAction = SignedAction> = A extends SignedAction
  ? { readonly action: A; readonly input: ActionInput<A> }
  : never;

/** What several orders become: one signature, one nonce, one transaction. */
export interface JoinedOrder {
  readonly order: ActionOrder;
  /** How many orders it carries out. */
  readonly count: number;
}

type EntryAction = 'WRITE_DATA_FOR' | 'MODIFY_DATA_FOR' | 'DELETE_DATA_FOR';
type EntryOrder = ActionOrder<EntryAction>;

const BATCH_ACTIONS = {
  WRITE_DATA_FOR: 'BATCH_WRITE_DATA_FOR',
  MODIFY_DATA_FOR: 'BATCH_MODIFY_DATA_FOR',
  DELETE_DATA_FOR: 'BATCH_DELETE_DATA_FOR',
} as const satisfies Record<EntryAction, SignedAction>;

const isEntry = (order: ActionOrder): order is EntryOrder => order.action in BATCH_ACTIONS;
/** Ids are padded to 32 bytes where they meet the chain. */
const readId = (id: string): string => id.toLowerCase().replace(/^0x0*/, '');

function joinEntries(orders: readonly EntryOrder[]): ActionOrder {
  const [{ action, input }] = orders as readonly [EntryOrder];
  const inputs = orders.map((order) => order.input);
  const times = inputs.flatMap(({ timestamp }) => timestamp ?? []);
  const batch = {
    cloudId: input.cloudId,
    dataIds: inputs.map(({ dataId }) => dataId),
    ...(action !== 'DELETE_DATA_FOR' && { payloads: inputs.map((each) => 'payload' in each && each.payload) }),
    relayerFee: inputs.reduce((sum, { relayerFee }) => sum + relayerFee, 0n),
    // None may be carried out before its time.
    ...(times.length > 0 && { timestamp: times.sort((one, other) => (one < other ? 1 : -1))[0] }),
  };
  // Action and input go together, as the table above says.
  return { action: BATCH_ACTIONS[action], input: batch } as unknown as ActionOrder;
}

/** Whether an order can go into one batch with others: the same act on other entries of the same prism. */
function fits(run: readonly EntryOrder[], { action, input }: EntryOrder): boolean {
  const [first] = run;
  if (first === undefined) return true;
  if (first.action !== action || readId(first.input.cloudId) !== readId(input.cloudId)) return false;
  return !run.some((other) => readId(other.input.dataId) === readId(input.dataId));
}

/**
 * Joins neighbours that can be one batch: writes, changes or deletions of entries in one prism. Their order stays, and so does the sum of
 * their fees.
 *
 * @param orders - in the order in which they are to be carried out
 * @param limits.maxBatchSize - most entries of one batch
 */
export function joinActions(
  orders: readonly ActionOrder[],
  { maxBatchSize }: { readonly maxBatchSize: number },
): readonly JoinedOrder[] {
  const joined: JoinedOrder[] = [];
  let run: EntryOrder[] = [];
  const end = () => {
    const [only] = run;
    if (only === undefined) return;
    joined.push(run.length === 1 ? { order: only, count: 1 } : { order: joinEntries(run), count: run.length });
    run = [];
  };
  for (const order of orders) {
    if (!isEntry(order) || run.length >= maxBatchSize || !fits(run, order)) end();
    if (isEntry(order)) run.push(order);
    else joined.push({ order, count: 1 });
  }
  end();
  return joined;
}
