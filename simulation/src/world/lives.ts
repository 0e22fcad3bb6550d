/** Parts of users' lives beyond plain writes: batches, transfers, creations, takers back, and wallets with code. */
import { setTimeout as pause } from 'node:timers/promises';
import { creditTokenAbi, forwarderAbi } from '@prism-gateway/contracts';
import {
  createMultiUserBatchParams,
  createPermit,
  createPermitTypedData,
  deriveCloudId,
  type WriteEntry,
} from '@prism-gateway/protocol/typed-data';
import type { PrismUser } from '@prism-gateway/testing/world';
import { createWalletClient, decodeFunctionResult, encodeFunctionData, type Hex, http, toHex } from 'viem';
import type { Random } from '../core/random.ts';
import { CHAIN_ID, CHAIN_NAME, CREDITS_PER_ETH, type World } from './createWorld.ts';
import { postRequest, postSigned, signRequest, WRITE_GAS } from './postRequest.ts';
import type { Story } from './story.ts';
import { BURNER, SAYS_YES, TURNCOAT_CODES } from './walletCodes.ts';

const ETHER = 10n ** 18n;
/** Credits that a new prism begins with: enough for its creation and some writes. */
const NEW_PRISM = 100_000n * ETHER;
const CREATION_GAS = 900_000n;
/** The price to come before a relayer's transaction. */
const HASTY = { maxFeePerGas: 500n * 10n ** 9n, maxPriorityFeePerGas: 50n * 10n ** 9n } as const;
/** How often one looks at what waits for a block, in milliseconds. */
const LOOK_MS = 1000;

/** The tools of lives. */
export interface LifeTools {
  readonly world: World;
  readonly random: Random;
  /** Ids that no other data has. */
  readonly newDataId: () => Hex;
  readonly nonceOf: (user: PrismUser) => bigint;
  readonly untilEnded: (story: Story) => Promise<void>;
  /** Takes another user out of its own life. @returns undefined: all are busy */
  readonly borrow: () => PrismUser | undefined;
  readonly giveBack: (user: PrismUser) => Promise<void>;
}

type Life = (user: PrismUser) => Promise<void>;

/** Makes the lives, by the name that `--kinds` takes. */
export function createLives(tools: LifeTools): Readonly<Record<string, Life>> {
  const { world, random, newDataId, nonceOf, untilEnded, borrow, giveBack } = tools;
  const { deployment, chain } = world;
  const payload = () => toHex(random.bytes(random.between(1, 200)));
  const write = (user: PrismUser) => ({ cloudId: user.cloudId, dataId: newDataId(), payload: payload() });
  const batch = (count: number) => ({
    dataIds: Array.from({ length: count }, newDataId),
    payloads: Array.from({ length: count }, payload),
  });

  /** Waits until a relayer's transaction with a signer's request waits for a block. @returns whether it came before the request ended */
  async function untilSent({ signer, endedAtMs }: Story, story: Story): Promise<boolean> {
    const key = signer.slice(2).toLowerCase();
    while (story.endedAtMs === endedAtMs) {
      if (chain.pool.list().some(({ data }) => data.includes(key))) return true;
      await pause(LOOK_MS);
    }
    return false;
  }

  const isExecuted = ({ digest }: Story) => digest !== undefined && (world.executions.get(digest) ?? []).length > 0;

  const walletOf = ({ account }: PrismUser) =>
    createWalletClient({ account, transport: http('http://node-1:8545', { retryCount: 5 }) });

  /** Sends a transaction before all others; one that comes too late is one that did not work. */
  async function hurry(user: PrismUser, call: Record<string, unknown>): Promise<void> {
    chain.fund(user.account.address, ETHER / 10n);
    const order = { ...call, ...HASTY, chain: null, gas: 200_000n, account: user.account };
    await walletOf(user)
      .sendTransaction(order as never)
      .catch(() => undefined);
  }

  /** A user's offer now. */
  const quoteFee = async (gas: bigint) => gas * (await world.quoteGasPrice()) * CREDITS_PER_ETH * 3n;

  async function readCredits(functionName: 'nonces' | 'balanceOf', owner: Hex): Promise<bigint> {
    const data = encodeFunctionData({ abi: creditTokenAbi, functionName, args: [owner] });
    const answer = await chain.call({ to: deployment.creditToken, data });
    return decodeFunctionResult({ abi: creditTokenAbi, functionName, data: answer });
  }

  /** Queues writes of several users as one request. @param plan.ahead - by how much the nonces of all but the first are ahead */
  async function postTogether(
    all: readonly PrismUser[],
    { kind, expects, ahead }: Pick<Story, 'kind' | 'expects'> & { readonly ahead: bigint },
  ): Promise<Story> {
    const members = all.map((user, index) => ({ user, nonce: nonceOf(user) + (index > 0 ? ahead : 0n) }));
    const signed = await Promise.all(
      members.map((member) =>
        signRequest(world, { ...member, action: 'WRITE_DATA_FOR', params: write(member.user), kind, expects }),
      ),
    );
    // There is always one.
    const [first, user] = [signed[0] as (typeof signed)[number], all[0] as PrismUser];
    const params = createMultiUserBatchParams({
      signer: user.account.address,
      timestamp: first.body.params.timestamp,
      // Params of a `WRITE_DATA_FOR` are an entry.
      requests: signed.map(({ body }) => body.params as WriteEntry),
    });
    const body = { chainName: CHAIN_NAME, action: 'BATCH_MULTI_USER_WRITE_DATA', params };
    const entries = members.map(({ user: { account, cloudId }, nonce }, index) => ({
      ...{ signer: account.address, nonce, cloudId },
      digest: signed[index]?.digest ?? first.digest,
    }));
    const fee = BigInt(params.relayerFee);
    const gas = WRITE_GAS * BigInt(all.length);
    return await postSigned(
      world,
      { body, digest: first.digest, entries, fee },
      { user, nonce: nonceOf(user), kind, expects, gas },
    );
  }

  const postFromWallet = (user: PrismUser, plan: Pick<Story, 'kind' | 'expects'>, nonce = nonceOf(user)) =>
    postRequest(world, {
      ...{ ...plan, user, action: 'WRITE_DATA_FOR', params: write(user), nonce },
      // Relayers ask twice as much of wallets that they do not know.
      gas: 2n * WRITE_GAS,
    });

  return {
    /** Writes several entries at once, changes them, and deletes them. */
    async batch(user) {
      const { cloudId } = user;
      const entries = batch(random.between(2, 6));
      const { dataIds } = entries;
      const gas = WRITE_GAS + BigInt(dataIds.length) * 80_000n;
      const shared = { user, kind: 'batch', expects: 'success', gas } as const;
      const nonce = nonceOf(user);
      const params = { cloudId, ...entries };
      const written = await postRequest(world, { ...shared, action: 'BATCH_WRITE_DATA_FOR', params, nonce });
      await untilEnded(written);
      // A liar may say either.
      if (!isExecuted(written)) return;
      const changed = { ...params, payloads: dataIds.map(payload) };
      const modified = await postRequest(world, {
        ...{ ...shared, action: 'BATCH_MODIFY_DATA_FOR', params: changed, nonce: nonce + 1n },
      });
      await untilEnded(modified);
      if (!isExecuted(modified)) return;
      await untilEnded(
        await postRequest(world, {
          ...{ ...shared, action: 'BATCH_DELETE_DATA_FOR', params: { cloudId, dataIds }, nonce: nonce + 2n },
        }),
      );
    },
    /** Gathers writes that others have signed, and queues them as one. */
    async multi(user) {
      const others = [borrow(), borrow()].filter((one) => one !== undefined);
      await untilEnded(await postTogether([user, ...others], { kind: 'multi', expects: 'success', ahead: 0n }));
      for (const other of others) await giveBack(other);
    },
    /** The same, but one of them waits for a forwarder nonce that nobody uses. */
    async gap(user) {
      const other = borrow();
      if (other === undefined) return;
      await untilEnded(await postTogether([user, other], { kind: 'gap', expects: 'failed', ahead: 3n }));
      await giveBack(other);
    },
    /** Gives its prism to another user, who accepts and gives it back. */
    async transfer(user) {
      const other = borrow();
      if (other === undefined) return;
      const { cloudId } = user;
      const shared = { kind: 'transfer', expects: 'success', gas: WRITE_GAS } as const;
      const hand = async (from: PrismUser, to: PrismUser, step: bigint) => {
        const params = { cloudId, newOwner: to.account.address };
        const given = {
          ...shared,
          user: from,
          action: 'TRANSFER_PRISM_FOR',
          params,
          nonce: nonceOf(from) + step,
        } as const;
        const taken = {
          ...shared,
          user: to,
          action: 'ACCEPT_TRANSFER_FOR',
          params: { cloudId },
          nonce: nonceOf(to) + step,
        };
        const first = await postRequest(world, given);
        await untilEnded(first);
        // A liar may say either.
        if (!isExecuted(first)) return false;
        const second = await postRequest(world, { ...taken, action: 'ACCEPT_TRANSFER_FOR' });
        await untilEnded(second);
        return isExecuted(second);
      };
      const isBack = async () => (await hand(user, other, 0n)) && (await hand(other, user, 1n));
      // One who has lost its prism halfway, or whose gateway is not there halfway, writes no more.
      if (!(await isBack().catch(() => false))) await new Promise(() => undefined);
      await giveBack(other);
    },
    /** Makes one more prism with data in it, and pays for it with a permit. */
    async create(user) {
      const owner = user.account.address;
      if ((await readCredits('balanceOf', owner)) < NEW_PRISM) return;
      // Of what it begins with, its fees are paid: nobody creates one while gas is that dear.
      if ((await quoteFee(CREATION_GAS)) > NEW_PRISM / 2n) return;
      const token = { address: deployment.creditToken, name: 'Prism Credit' };
      const deadline = BigInt(Math.floor(world.realm.clock.now() / 1000) + 86_400);
      const source = { token, chainId: CHAIN_ID, owner, spender: deployment.forwarder, value: NEW_PRISM, deadline };
      const nonce = await readCredits('nonces', owner);
      const signature = await user.account.signTypedData(createPermitTypedData({ ...source, nonce }));
      const salt = toHex(random.bytes(32));
      const params = {
        ...{ fundAmount: String(NEW_PRISM), salt, permit: createPermit({ deadline, signature }) },
        ...batch(random.between(1, 3)),
      };
      const made = await postRequest(world, {
        ...{ user, action: 'CREATE_PRISM_WITH_DATA_FOR', params, nonce: nonceOf(user) },
        ...{ kind: 'create', expects: 'success', gas: CREATION_GAS },
      });
      await untilEnded(made);
      if (made.status !== 'success') return;
      // Gas may have become dearer meanwhile than what the prism has left pays for.
      if (made.fee + (await quoteFee(WRITE_GAS)) > (NEW_PRISM * 3n) / 4n) return;
      const own = { ...user, cloudId: deriveCloudId({ signer: owner, salt }) };
      const common = { user, action: 'WRITE_DATA_FOR', params: write(own), nonce: nonceOf(user) + 1n } as const;
      await untilEnded(await postRequest(world, { ...common, kind: 'create', expects: 'success' }));
    },
    /** Takes back what it has signed, a moment before the relayer's transaction is mined. */
    async 'front run'(user) {
      const story = await postRequest(world, {
        ...{ user, action: 'WRITE_DATA_FOR', params: write(user), nonce: nonceOf(user) },
        ...{ kind: 'front run', expects: 'either' },
      });
      if (await untilSent(story, story)) {
        const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'invalidateNonce' });
        await hurry(user, { to: deployment.forwarder, data });
      }
      await untilEnded(story);
    },
    /** A contract wallet or delegated account: an honest one's writes succeed. */
    async wallet(user) {
      await untilEnded(await postFromWallet(user, { kind: 'wallet', expects: 'success' }));
    },
    /** Signs two for one nonce. A delegated account's code says yes to the second one, too. */
    async 'wallet twice'(user) {
      const plan = { kind: 'wallet twice', expects: 'either' } as const;
      const first = await postFromWallet(user, plan);
      await pause(random.between(100, 60_000));
      const again = await postFromWallet(user, plan, first.nonce);
      for (const story of [first, again]) await untilEnded(story);
    },
    /** A wallet that says yes to anything, until a relayer has sent its request; every other one by code that tells a simulation from a block. */
    async turncoat(user) {
      const turn = async (contractAddress: Hex) => {
        const authorization = await walletOf(user).signAuthorization({ contractAddress, executor: 'self' } as never);
        await hurry(user, { to: user.account.address, authorizationList: [authorization] });
      };
      const code = random.chance(0.5) ? random.pick([...TURNCOAT_CODES.keys()]) : undefined;
      if (code !== undefined) await turn(code);
      const story = await postRequest(world, {
        ...{ user, action: 'WRITE_DATA_FOR', params: write(user), nonce: nonceOf(user) },
        ...{ kind: 'turncoat', expects: 'either', gas: 2n * WRITE_GAS },
      });
      if ((await untilSent(story, story)) && code === undefined) await turn(BURNER);
      await untilEnded(story);
      await turn(SAYS_YES);
    },
    /** A stranger's junk: nobody has signed it, and nobody pays for it. */
    async junk() {
      const address = toHex(random.bytes(20));
      const account = { address, signTypedData: async () => `${toHex(random.bytes(64))}1b` as Hex };
      const user = { account, cloudId: toHex(random.bytes(32)) } as unknown as PrismUser;
      for (let count = random.between(1, 5); count > 0; count--) {
        await postRequest(world, {
          ...{ user, action: 'WRITE_DATA_FOR', params: write(user), nonce: 0n },
          ...{ kind: 'junk', expects: 'either' },
        });
      }
    },
  };
}
