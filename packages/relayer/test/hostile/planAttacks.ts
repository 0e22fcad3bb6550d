import type { ActionParams, CreateRequestBody } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { type PrismUser, type RelayWorld, signWrite } from '@prism-gateway/testing/relay';
import { type Hex, numberToHex, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { WALLET_CODES } from './walletCode.ts';

/** What an attacker does the moment that its transaction waits for a block. */
export type Trick = 'setSlot' | 'takeBack' | 'runAhead';

/** A request that is posted to have the relayer pay for nothing. */
export interface Attack {
  readonly kind: string;
  readonly body: CreateRequestBody;
  readonly signer: Hex;
  /** Code that the signer's address gets first. */
  readonly code?: Hex;
  readonly trick?: Trick;
}

/** Pays for a write of a contract wallet with the margin that strangers' wallets are asked for. */
export const FEE = 2000n * 10n ** 18n;
const CHAIN_NAME = 'eip155:31337';

type World = Pick<RelayWorld, 'deployment'>;
type Write = ActionParams<'WRITE_DATA_FOR'>;

const nowSeconds = () => BigInt(Math.floor(Date.now() / 1000) - 5);

/** A write into a user's own prism. */
export async function signOwn(
  world: World,
  { user, nonce = 1n, fee = FEE }: { readonly user: PrismUser; readonly nonce?: bigint; readonly fee?: bigint },
): Promise<Write> {
  const dataId = numberToHex(nonce, { size: 32 });
  const payload = toHex(`${user.account.address} writes ${nonce}`);
  return await signWrite(world.deployment, user, { dataId, payload, relayerFee: fee, nonce, timestamp: nowSeconds() });
}

const post = (params: Write): CreateRequestBody => ({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params });

/** Asks the relayer for more credits than any fee would bring. */
async function signSponsored({ deployment: { chainId, forwarder } }: World, { account }: PrismUser) {
  const action = 'CREATE_PRISM_FOR';
  const timestamp = String(nowSeconds());
  const fund = { fundAmount: '0', relayerFundAmount: String(10n ** 24n), salt: '0x99' } as const;
  const params = { ...fund, relayerFee: String(FEE), timestamp };
  const signature = await account.signTypedData(createTypedData({ action, params, nonce: 1n, chainId, forwarder }));
  return createSignedParams({ action, params, signer: account.address, signature });
}

/** Who posts what, without any wallet: each takes a user of its own, and an honest one whose name it may use. */
const POSTERS: Readonly<
  Record<string, (world: World, user: PrismUser, honest: PrismUser) => Promise<Omit<Attack, 'kind' | 'signer'>>>
> = {
  async takesBack(world, user) {
    return { body: post(await signOwn(world, { user })), trick: 'takeBack' };
  },
  async runsAhead(world, user) {
    return { body: post(await signOwn(world, { user })), trick: 'runAhead' };
  },
  async paysNothing(world, user) {
    return { body: post(await signOwn(world, { user, fee: 0n })) };
  },
  async promisesAll(world, user) {
    return { body: post(await signOwn(world, { user, fee: 2n ** 200n })) };
  },
  async forges(world, user, honest) {
    const params = await signOwn(world, { user });
    return { body: post({ ...params, signer: honest.account.address }) };
  },
  async trespasses(world, user, honest) {
    return { body: post(await signOwn(world, { user: { ...user, cloudId: honest.cloudId } })) };
  },
  async begs(world, user) {
    return { body: { chainName: CHAIN_NAME, action: 'CREATE_PRISM_FOR', params: await signSponsored(world, user) } };
  },
  /** One entry pays, and those beside it are of strangers without a prism. */
  async stuffsBatches(world, user) {
    const paying = await signOwn(world, { user });
    const strangers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const account = privateKeyToAccount(generatePrivateKey());
        return await signOwn(world, { user: { account, cloudId: user.cloudId }, nonce: 0n });
      }),
    );
    const requests = [paying, ...strangers];
    const params = createMultiUserBatchParams({ signer: user.account.address, timestamp: paying.timestamp, requests });
    return { body: { chainName: CHAIN_NAME, action: 'BATCH_MULTI_USER_WRITE_DATA', params } };
  },
};

/** A contract wallet's request, signed by nobody. */
async function planWallet(world: World, user: PrismUser, kind: keyof typeof WALLET_CODES): Promise<Attack> {
  const stranger = { ...privateKeyToAccount(generatePrivateKey()), address: user.account.address };
  const body = post(await signOwn(world, { user: { ...user, account: stranger } }));
  const shared = { kind, body, signer: user.account.address, code: WALLET_CODES[kind] };
  return kind === 'turncoat' ? { ...shared, trick: 'setSlot' } : shared;
}

/** Names of all attacks: contract wallets, and posters. */
export const KINDS: readonly string[] = [...Object.keys(WALLET_CODES), ...Object.keys(POSTERS)];

/**
 * Plans attacks of all kinds in turn.
 *
 * @param users - one for each attack
 * @param honest - whose names are abused
 */
export async function planAttacks(
  world: World,
  { users, honest }: { readonly users: readonly PrismUser[]; readonly honest: readonly PrismUser[] },
): Promise<readonly Attack[]> {
  const attacks: Attack[] = [];
  for (const [index, user] of users.entries()) {
    // There are as many kinds, and honest users.
    const kind = KINDS[index % KINDS.length]!;
    const poster = POSTERS[kind];
    if (poster === undefined) attacks.push(await planWallet(world, user, kind as keyof typeof WALLET_CODES));
    else {
      const planned = await poster(world, user, honest[index % honest.length]!);
      attacks.push({ ...planned, kind, signer: user.account.address });
    }
  }
  return attacks;
}
