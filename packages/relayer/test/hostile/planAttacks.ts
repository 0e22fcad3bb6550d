import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams, CreateRequestBody } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { type PrismUser, signWrite, type World as WholeWorld } from '@prism-gateway/testing/world';
import { type Hex, numberToHex, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { WALLET_CODES } from './walletCode.ts';

/** An attacker's act the moment that its transaction waits for a block. */
export type Trick = 'setSlot' | 'upgrade' | 'takeBack' | 'runAhead' | 'handOver';

/** A request that is posted to have the relayer pay for nothing. */
export interface Attack {
  readonly kind: string;
  readonly body: CreateRequestBody;
  readonly signer: Hex;
  /** Code that the signer's address gets first. */
  readonly code?: Hex;
  readonly trick?: Trick;
  /** Calls of the Forwarder: one that is carried out before anything is posted, and what a trick sends. */
  readonly before?: Hex;
  readonly call?: Hex;
  /** Requests posted beside it, in the same name. */
  readonly beside?: readonly CreateRequestBody[];
}

/** Pays for a write of a contract wallet with the margin that strangers' wallets are asked for. */
export const FEE = 2000n * 10n ** 18n;
const CHAIN_NAME = 'eip155:31337';
/** How often a request is signed anew with the same nonce. */
const REPEATED = 10;
/** How long the Forwarder takes a signature, and how much of that is left at most, in seconds. */
const MAX_AGE_SECONDS = 86_400n;
const MAX_LEFT_SECONDS = 60;
/** Bytes of a write that takes a good part of a block. */
const LARGE_BYTES = 8000;

type World = Pick<WholeWorld, 'deployment'>;
type Write = ActionParams<'WRITE_DATA_FOR'>;

const nowSeconds = () => BigInt(Math.floor(Date.now() / 1000) - 5);

/** A write into a user's own prism. @param write.ageSeconds - how long before now it was signed */
export async function signOwn(
  world: World,
  write: {
    readonly user: PrismUser;
    readonly nonce?: bigint;
    readonly fee?: bigint;
    readonly ageSeconds?: bigint;
    readonly entry?: bigint;
    readonly payload?: Hex;
  },
): Promise<Write> {
  const { user, nonce = 1n, fee: relayerFee = FEE, ageSeconds = 0n, entry = nonce } = write;
  const { payload = toHex(`${user.account.address} writes ${nonce}`) } = write;
  const [dataId, timestamp] = [numberToHex(entry, { size: 32 }), nowSeconds() - ageSeconds];
  return await signWrite(world.deployment, user, { dataId, payload, relayerFee, nonce, timestamp });
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

/** Offers a prism to a stranger, who takes it the moment that its next write waits for a block: the signer's own nonce is not touched. */
async function signHandover({ deployment: { chainId, forwarder } }: World, { account, cloudId }: PrismUser) {
  const stranger = privateKeyToAccount(generatePrivateKey());
  const shared = { cloudId, relayerFee: '0', timestamp: String(nowSeconds()) } as const;
  const offer = { ...shared, newOwner: stranger.address };
  const offered = createTypedData({ action: 'TRANSFER_PRISM_FOR', params: offer, nonce: 1n, chainId, forwarder });
  const taken = createTypedData({ action: 'ACCEPT_TRANSFER_FOR', params: shared, nonce: 0n, chainId, forwarder });
  const transfer = createSignedParams({
    ...{ action: 'TRANSFER_PRISM_FOR' as const, params: offer, signer: account.address },
    signature: await account.signTypedData(offered),
  });
  const accept = createSignedParams({
    ...{ action: 'ACCEPT_TRANSFER_FOR' as const, params: shared, signer: stranger.address },
    signature: await stranger.signTypedData(taken),
  });
  return {
    before: encodeForwarderCall({ action: 'TRANSFER_PRISM_FOR', params: transfer }).data,
    call: encodeForwarderCall({ action: 'ACCEPT_TRANSFER_FOR', params: accept }).data,
  };
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
  async handsOver(world, user) {
    return {
      body: post(await signOwn(world, { user, nonce: 2n })),
      trick: 'handOver',
      ...(await signHandover(world, user)),
    };
  },
  /** Signed for one nonce, again and again: one of them can be carried out. */
  async repeats(world, user) {
    const copies = Array.from({ length: REPEATED }, (_, index) => signOwn(world, { user, ageSeconds: BigInt(index) }));
    const [first, ...others] = (await Promise.all(copies)).map(post);
    // There are several.
    return { body: first!, beside: others };
  },
  /** A run whose middle write is of an entry that its first one has made. */
  async breaksRuns(world, user) {
    const run = [1n, 2n, 1n, 4n, 5n].map((entry, index) => signOwn(world, { user, nonce: BigInt(index + 1), entry }));
    const [first, ...others] = (await Promise.all(run)).map(post);
    return { body: first!, beside: others };
  },
  /** Too old in a moment. */
  async closes(world, user) {
    const leftSeconds = BigInt(Math.floor(Math.random() * MAX_LEFT_SECONDS));
    return { body: post(await signOwn(world, { user, ageSeconds: MAX_AGE_SECONDS - leftSeconds })) };
  },
  /** Takes back what costs the most when it comes in vain: its bytes. */
  async fillsThenTakesBack(world, user) {
    const payload: Hex = `0x${'5a'.repeat(LARGE_BYTES)}`;
    return { body: post(await signOwn(world, { user, fee: 40n * FEE, payload })), trick: 'takeBack' };
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
  if (kind === 'upgrades') return { ...shared, trick: 'upgrade' };
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
