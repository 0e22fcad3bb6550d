import type { CreateRequestBody } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { signWrite, type World } from '@prism-gateway/testing/world';
import { type Hex, numberToHex, toHex } from 'viem';

/** A request to post, and what has to become of it. */
export interface PlannedRequest {
  readonly body: CreateRequestBody;
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly cloudId: Hex;
  readonly dataId: Hex;
  readonly payload: Hex;
  /** `fails`: it would revert on the chain, for ever. */
  readonly fate: 'succeeds' | 'fails';
}

/** Credits that pay for any of these with room to spare, and no more than a batch needs at the devnet's price of gas. */
const FEE = 3000n * 10n ** 18n;
const CHAIN_NAME = 'eip155:31337';

async function planWrite(
  world: World,
  at: { user: number; nonce: bigint; timestamp: bigint },
): Promise<PlannedRequest> {
  // One of `users` by its index.
  const user = world.users[at.user]!;
  const wish = {
    dataId: numberToHex(at.nonce, { size: 32 }),
    payload: toHex(`user ${at.user} writes ${at.nonce}`),
    relayerFee: FEE,
    nonce: at.nonce,
    timestamp: at.timestamp,
  };
  const params = await signWrite(world.deployment, user, wish);
  const { cloudId } = user;
  const { dataId, payload, nonce } = wish;
  const body = { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params } as const;
  return { body, signer: user.account.address, nonce, cloudId, dataId, payload, fate: 'succeeds' };
}

/** Replaces what the write with nonce 1 has written; goes alone, never in a batch. */
async function planModify(
  world: World,
  at: { user: number; nonce: bigint; timestamp: bigint },
): Promise<PlannedRequest> {
  // One of `users` by its index.
  const { account, cloudId } = world.users[at.user]!;
  const { chainId, forwarder } = world.deployment;
  const dataId = numberToHex(1n, { size: 32 });
  const payload = toHex(`user ${at.user} modifies with ${at.nonce}`);
  const unsigned = { cloudId, dataId, payload, relayerFee: String(FEE), timestamp: String(at.timestamp) };
  const action = 'MODIFY_DATA_FOR';
  const signature = await account.signTypedData(
    createTypedData({ action, params: unsigned, nonce: at.nonce, chainId, forwarder }),
  );
  const params = createSignedParams({ action, params: unsigned, signer: account.address, signature });
  const body = { chainName: CHAIN_NAME, action, params } as const;
  return { body, signer: account.address, nonce: at.nonce, cloudId, dataId, payload, fate: 'succeeds' };
}

/** Writes into somebody else's prism. */
async function planTrespass(
  world: World,
  at: { user: number; nonce: bigint; timestamp: bigint },
): Promise<PlannedRequest> {
  // Both are of `users`, by their indexes.
  const [user, victim] = [world.users[at.user]!, world.users[(at.user + 1) % world.users.length]!];
  const dataId = numberToHex(999n, { size: 32 });
  const payload = toHex(`user ${at.user} was never here`);
  const wish = { dataId, payload, relayerFee: FEE, nonce: at.nonce, timestamp: at.timestamp };
  const params = await signWrite(world.deployment, { ...user, cloudId: victim.cloudId }, wish);
  const body = { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params } as const;
  const { cloudId } = victim;
  return { body, signer: user.account.address, nonce: at.nonce, cloudId, dataId, payload, fate: 'fails' };
}

/**
 * Plans requests for all users in turn, each user's in the order of its nonces: mostly writes, some modifications, and at the end
 * of every third user's row a trespass, which would keep later ones of the same user from their turn.
 *
 * @param count - how many, a multiple of the number of users
 */
export async function planWork(world: World, count: number): Promise<readonly PlannedRequest[]> {
  const timestamp = BigInt(Math.floor(Date.now() / 1000));
  const rounds = Math.floor(count / world.users.length);
  const planned: PlannedRequest[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (let user = 0; user < world.users.length; user += 1) {
      const at = { user, nonce: BigInt(round + 1), timestamp };
      if (round === rounds - 1 && user % 3 === 0) planned.push(await planTrespass(world, at));
      else planned.push(await (round > 0 && user % 4 === 1 ? planModify(world, at) : planWrite(world, at)));
    }
  }
  return planned;
}
