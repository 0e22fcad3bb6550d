import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import type { CallOptions } from '../requests/getRequest.ts';
import type { ActionInput } from '../user/actionInput.ts';
import type { Submission } from '../user/createVerbs.ts';
import type { UserClient } from '../user/userClient.ts';

/** The gateway's default limit. */
const DEFAULT_MAX_BATCH_SIZE = 100;

/** How a run is signed. */
export interface SubmitManyOptions extends CallOptions {
  /**
   * `together` (default): neighbours that write, change or delete entries of one prism are one batch, signed by one prompt and carried
   * out all or not at all. `each`: one request, one signature and one outcome an action.
   */
  readonly signing?: 'together' | 'each' | undefined;
  /** Most entries of one batch: the gateway's `MAX_BATCH_SIZE`; default 100. */
  readonly maxBatchSize?: number | undefined;
}

/** A run broke off: what came before is submitted, and nothing after it is signed. */
export class SubmitManyError extends Error {
  override readonly name = 'SubmitManyError';
  readonly code = 'RUN_INTERRUPTED';
  /** Of the first actions, one for each. */
  readonly submissions: readonly Submission[];

  /** @param facts.cause - what the wallet or the gateway threw */
  constructor(facts: { readonly submissions: readonly Submission[]; readonly count: number; readonly cause: unknown }) {
    const { submissions, count, cause } = facts;
    super(`Only ${submissions.length} of ${count} actions were submitted; the rest can be given again.`, { cause });
    this.submissions = submissions;
  }
}

/**
 * Signs a run of actions with consecutive forwarder nonces, and submits them in their order, with as few prompts of the wallet as the
 * actions allow. No wallet signs several typed data by one prompt (EIP-5792 sends calls, and signs none); so what can be one action
 * becomes one. A local account prompts for nothing. Relayers check, claim and submit a run of one signer together.
 *
 * @param user - whose actions these are
 * @param orders - what is to be carried out, in this order
 * @returns a submission for each of the orders; those that were signed together share theirs
 * @throws SubmitManyError RUN_INTERRUPTED
 * @see docs/specification.md RELAY-21
 * @example
 * const writes = entries.map(({ dataId, payload }) => ({ action: 'WRITE_DATA_FOR', input: { cloudId, dataId, payload, relayerFee } }) as const);
 * const submissions = await submitMany(user, writes);
 * await user.waitForRequests([...new Set(submissions.map(({ requestId }) => requestId))]);
 */
export async function submitMany(
  user: Pick<UserClient, 'submit'>,
  orders: readonly ActionOrder[],
  options: SubmitManyOptions = {},
): Promise<readonly Submission[]> {
  const { signing = 'together', maxBatchSize = DEFAULT_MAX_BATCH_SIZE, signal } = options;
  const joined = joinActions(orders, { maxBatchSize: signing === 'each' ? 1 : maxBatchSize });
  const submissions: Submission[] = [];
  for (const { order, count } of joined) {
    try {
      // Action and input go together in an order.
      const submission = await user.submit(order.action, order.input as never, { signal });
      submissions.push(...Array.from({ length: count }, () => submission));
    } catch (cause) {
      throw new SubmitManyError({ submissions, count: orders.length, cause });
    }
  }
  return submissions;
}

/** An action and its input. */
export type ActionOrder<A extends SignedAction = SignedAction> = A extends SignedAction
  ? { readonly action: A; readonly input: ActionInput<A> }
  : never;

/** Several orders joined: one signature, one nonce, one transaction. */
interface JoinedOrder {
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
function joinActions(
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
