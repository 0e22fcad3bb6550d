import type { WriteEntry } from '@prism-gateway/protocol/typed-data';
import { type ActionInput, type GatewayClient, submitMultiUserBatch } from '@prism-gateway/sdk';
import type { Plan, Step } from '../plan/plan.ts';
import { WORLD } from '../world/settings.ts';
import type { Signer } from './createSigners.ts';
import type { SignedPart, Submitted } from './submitted.ts';

/** What submitting takes. */
export interface SubmitOptions {
  readonly gateway: GatewayClient;
  readonly signers: readonly Signer[];
  readonly plan: Plan;
  /** Told of each request that the gateway has stored. */
  readonly onSubmitted: (request: Submitted) => void;
  readonly signal: AbortSignal;
}

function signerOf({ signers }: SubmitOptions, { user }: Step): Signer {
  const signer = signers[user];
  if (signer === undefined) throw new RangeError(`there is no user ${user}`);
  return signer;
}

/** Signs and submits what one user wants, in order. */
async function submitOwn(options: SubmitOptions, steps: readonly Step[]): Promise<void> {
  const { onSubmitted, signal } = options;
  for (const step of steps) {
    const { client, party, complete } = signerOf(options, step);
    const { requestId, nonce } = await client.submit(step.action, await complete(step.wish), { signal });
    onSubmitted({ requestId, action: step.action, parts: [{ signer: party.account.address, nonce }] });
  }
}

/** Has each user sign its write, and queues them all as one request, in the first user's name. */
async function submitBatch(options: SubmitOptions, writes: readonly Step[]): Promise<void> {
  const { gateway, onSubmitted, signal } = options;
  const signed = await Promise.all(
    writes.map(async (step): Promise<{ entry: WriteEntry; part: SignedPart }> => {
      const { client, party } = signerOf(options, step);
      // The plan puts writes only into such a stage.
      const { entry, nonce } = await client.signWrite(step.wish as ActionInput<'WRITE_DATA_FOR'>, { signal });
      return { entry, part: { signer: party.account.address, nonce } };
    }),
  );
  const requests = signed.map(({ entry }) => entry);
  const parts = signed.map(({ part }) => part);
  const signer = parts[0]?.signer ?? '';
  const { requestId, action } = await submitMultiUserBatch(gateway, {
    chainName: WORLD.chainName,
    signer,
    requests,
    signal,
  });
  onSubmitted({ requestId, action, parts });
}

/**
 * Has the users sign and submit the whole plan, through the SDK: each user its own requests in order, all users at once, nothing
 * waited for. What is not in order yet waits in the gateway's queue.
 *
 * @param options - see each field
 * @throws GatewayError
 */
export async function submitPlan(options: SubmitOptions): Promise<void> {
  for (const stage of options.plan.stages) {
    if (stage.kind === 'multiUserBatch') {
      await submitBatch(options, stage.writes);
      continue;
    }
    const byUser = Map.groupBy(stage.steps, ({ user }) => user);
    await Promise.all([...byUser.values()].map((steps) => submitOwn(options, steps)));
  }
}
