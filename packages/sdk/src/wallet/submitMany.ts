import type { CallOptions } from '../requests/getRequest.ts';
import type { Submission } from '../user/createVerbs.ts';
import type { UserClient } from '../user/userClient.ts';
import { type ActionOrder, joinActions } from './joinActions.ts';

/** What the gateway takes by default. */
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
