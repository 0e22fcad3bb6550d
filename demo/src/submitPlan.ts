import type { Action } from '@prism-gateway/protocol';
import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import {
  type ActionInput,
  createUserClient,
  signPermit,
  submitMultiUserBatch,
  type UserClient,
} from '@prism-gateway/sdk';
import type { Address } from 'viem';
import type { Plan, Step } from './plan/createPlanner.ts';
import { type DemoWorld, type Party, WORLD } from './startDemoWorld.ts';

/** One signature in a submitted request: its own, or one an entry of a multi-user batch. */
export interface SignedPart {
  readonly signer: Address;
  /** The forwarder nonce that it was signed with. */
  readonly nonce: bigint;
}

/** A request that the gateway has stored. */
export interface Submitted {
  readonly requestId: string;
  readonly action: Action;
  readonly parts: readonly SignedPart[];
}

/** A user with the SDK in its hands. */
interface Signer {
  readonly address: Address;
  readonly client: UserClient;
  /** Adds what a wish needs besides itself: a creation that the user pays for has a permit signed. */
  complete(wish: ActionInput): Promise<ActionInput>;
}

interface Submission {
  readonly demo: DemoWorld;
  readonly plan: Plan;
  /** Called with each request that the gateway has stored. */
  readonly onSubmitted: (request: Submitted) => void;
  readonly signal: AbortSignal;
}

/** How long a permit holds, in seconds. */
const PERMIT_SECONDS = 3600;
/** The credit token's EIP-712 name. */
const TOKEN_NAME = 'Prism Credit';

/** Creations have amounts to pull from their signers. */
function isFunded(wish: ActionInput): wish is ActionInput<Extract<SignedAction, `CREATE_${string}`>> {
  return 'fundAmount' in wish && wish.fundAmount > 0n;
}

/** Makes the client of a user. */
export function createClientOf({ world, chain }: DemoWorld, { account }: Party): UserClient {
  const { chainId, forwarder } = world.deployment;
  const domain = { chainId, forwarder };
  const { chainName } = WORLD;
  return createUserClient({ gateway: world.client, account, chainName, domain, publicClient: chain });
}

function createSigner(demo: DemoWorld, party: Party): Signer {
  const { forwarder, creditToken } = demo.world.deployment;
  const client = createClientOf(demo, party);
  const deadline = BigInt(Math.floor(Date.now() / 1000) + PERMIT_SECONDS);
  // Of the token, which counts by itself: the user is new, and each of its permits is used in the order of its requests.
  let permitNonce = 0n;
  return {
    address: party.account.address,
    client,
    async complete(wish) {
      if (!isFunded(wish)) return wish;
      const token = { address: creditToken, name: TOKEN_NAME };
      const permit = { token, spender: forwarder, value: wish.fundAmount, nonce: permitNonce++, deadline };
      return { ...wish, permit: await signPermit(client, permit) };
    },
  };
}

/**
 * Has the users sign and submit the whole plan, through the SDK: each user its own requests in order, all users at once, nothing
 * waited for. What is not in order yet waits in the gateway's queue.
 *
 * @param submission - see each field
 * @throws GatewayError
 */
export async function submitPlan({ demo, plan, onSubmitted, signal }: Submission): Promise<void> {
  const signers = demo.users.map((party) => createSigner(demo, party));
  const signerOf = ({ user }: Step): Signer => {
    const signer = signers[user];
    if (signer === undefined) throw new RangeError(`there is no user ${user}`);
    return signer;
  };

  async function submitOwn(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      const { client, address, complete } = signerOf(step);
      const { requestId, nonce } = await client.submit(step.action, await complete(step.wish), { signal });
      onSubmitted({ requestId, action: step.action, parts: [{ signer: address, nonce }] });
    }
  }

  /** Has each user sign its write, and queues them all as one request, in the first user's name. */
  async function submitBatch(writes: readonly Step[]): Promise<void> {
    const signed = await Promise.all(
      writes.map(async (step) => {
        const { client, address } = signerOf(step);
        // The plan puts writes only into such a stage.
        const { entry, nonce } = await client.signWrite(step.wish as ActionInput<'WRITE_DATA_FOR'>, { signal });
        return { entry, part: { signer: address, nonce } };
      }),
    );
    const requests = signed.map(({ entry }) => entry);
    const parts = signed.map(({ part }) => part);
    const batch = { chainName: WORLD.chainName, signer: parts[0]?.signer ?? '', requests, signal };
    const { requestId, action } = await submitMultiUserBatch(demo.world.client, batch);
    onSubmitted({ requestId, action, parts });
  }

  for (const stage of plan.stages) {
    if (stage.kind === 'multiUserBatch') {
      await submitBatch(stage.writes);
      continue;
    }
    const byUser = Map.groupBy(stage.steps, ({ user }) => user);
    await Promise.all([...byUser.values()].map(submitOwn));
  }
}
