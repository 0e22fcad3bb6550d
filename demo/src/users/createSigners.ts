import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import { type ActionInput, createUserClient, signPermit, type UserClient } from '@prism-gateway/sdk';
import type { Party } from '../world/accounts.ts';
import { WORLD } from '../world/settings.ts';
import type { World } from '../world/startWorld.ts';

/** A user with the SDK in its hands. */
export interface Signer {
  readonly party: Party;
  readonly client: UserClient;
  /** Adds what a wish needs besides itself: a creation that the user pays for has a permit signed. */
  complete(wish: ActionInput): Promise<ActionInput>;
}

/** How long a permit holds, in seconds. */
const PERMIT_SECONDS = 3600n;
/** The credit token's EIP-712 name. */
const TOKEN_NAME = 'Prism Credit';

/** Creations have amounts to pull from their signers. */
function isFunded(wish: ActionInput): wish is ActionInput<Extract<SignedAction, `CREATE_${string}`>> {
  return 'fundAmount' in wish && wish.fundAmount > 0n;
}

/**
 * Makes the users' clients.
 *
 * @param world - where they sign and submit
 * @param nowSeconds - Unix time, for the permits
 */
export function createSigners(world: World, nowSeconds: bigint): readonly Signer[] {
  const { client: gateway, deployment, chain } = world;
  const { chainId, forwarder, creditToken } = deployment;
  return world.users.map((party): Signer => {
    const domain = { chainId, forwarder };
    const { account } = party;
    const client = createUserClient({ gateway, account, chainName: WORLD.chainName, domain, publicClient: chain });
    // Of the token, which counts by itself: the user is new, and each of its permits is used in the order of its requests.
    let permitNonce = 0n;
    return {
      party,
      client,
      async complete(wish) {
        if (!isFunded(wish)) return wish;
        const permit = await signPermit(client, {
          token: { address: creditToken, name: TOKEN_NAME },
          spender: forwarder,
          value: wish.fundAmount,
          nonce: permitNonce++,
          deadline: nowSeconds + PERMIT_SECONDS,
        });
        return { ...wish, permit };
      },
    };
  });
}
