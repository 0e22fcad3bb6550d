import type { Action, ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, deriveCloudId, type SignedAction } from '@prism-gateway/protocol/typed-data';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { type Address, type Hex, maxUint256 } from 'viem';
import { numberToHex } from 'viem/utils';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { creditTokenAbi } from '../src/index.ts';
import { type ChainRig, createUser, startChainRig } from './chainRig.ts';
import {
  applyStep,
  type CloudModel,
  createCloudModel,
  MODEL_USERS,
  prismNumber,
  SALTS,
  type SignedStep,
  type Step,
} from './cloudModel.ts';

/** Odd, so that every split has a remainder. */
const PROTOCOL_FEE = 13n;
const SHARE_BPS = 7_000n;
const IDS = 3;

const users = Array.from({ length: MODEL_USERS }, (_, index) => createUser(`model ${index}`));
const saltOf = (salt: number) => numberToHex(salt + 1, { size: 1 });
const cloudIdOf = (prism: number): Hex =>
  // Every prism has its user.
  deriveCloudId({ signer: users[Math.floor(prism / SALTS)]!.address, salt: saltOf(prism % SALTS) });
const idOf = (id: number) => numberToHex(id, { size: 32 });
const payloadOf = (bytes: number): Hex => `0x${'5a'.repeat(bytes)}`;

let rig: ChainRig;
let supply: bigint;
/** What the two relayers hold before the first step. */
const STAKE = 10n ** 12n;

const readSupply = () =>
  rig.client.readContract({ address: rig.deployment.creditToken, abi: creditTokenAbi, functionName: 'totalSupply' });

beforeAll(async () => {
  rig = await startChainRig({ protocolFee: PROTOCOL_FEE, priorityWindow: 0, relayerShareBps: Number(SHARE_BPS) });
  for (const relayer of [rig.official, rig.outsider]) {
    await rig.giveCredits(relayer, STAKE);
    await rig.approve(relayer, rig.deployment.forwarder, maxUint256);
  }
  supply = await readSupply();
});
afterAll(() => rig?.devnet.stop());

const user = fc.nat({ max: MODEL_USERS - 1 });
const prism = fc.nat({ max: MODEL_USERS * SALTS - 1 });
const salt = fc.nat({ max: SALTS - 1 });
const id = fc.nat({ max: IDS - 1 });
const ids = fc.array(id, { maxLength: 3 });
const fee = fc.bigInt({ min: 0n, max: 40n });
const sponsored = fc.bigInt({ min: 0n, max: 600n });
const bytes = fc.constantFrom(0, 1, 31, 32, 63, 64, 100);
const of = <K extends Step['kind']>(...kinds: K[]) => fc.constantFrom(...kinds);

const creation = fc.record({ kind: of('create'), user, salt, sponsored, fee });
const filledCreation = fc.record({ kind: of('createWithData'), user, salt, sponsored, fee, ids });
const write = fc.record({ kind: of('write'), user, prism, id, bytes, fee });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: creation },
  { weight: 2, arbitrary: filledCreation },
  { weight: 4, arbitrary: write },
  { weight: 2, arbitrary: fc.record({ kind: of('modify'), user, prism, id, bytes, fee }) },
  { weight: 2, arbitrary: fc.record({ kind: of('delete'), user, prism, id, fee }) },
  { weight: 2, arbitrary: fc.record({ kind: of('offer'), user, prism, to: user, fee }) },
  { weight: 2, arbitrary: fc.record({ kind: of('accept', 'end'), user, prism, fee }) },
  { weight: 2, arbitrary: fc.record({ kind: of('batchWrite', 'batchDelete'), user, prism, ids, fee }) },
);
const nonceOffset = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1, 5) },
);
const single = fc.record({ official: fc.boolean(), steps: fc.tuple(fc.record({ step, nonceOffset })) });
const batch = fc.record({
  official: fc.boolean(),
  steps: fc.array(fc.record({ step: write, nonceOffset }), { minLength: 1, maxLength: 5 }),
});
/** One transaction: one request, or a multi-user batch of writes. */
const transaction = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('single' as const), order: single }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('batch' as const), order: batch }) },
);
type Transaction = typeof transaction extends fc.Arbitrary<infer T> ? T : never;

/** The gateway's words for a step. */
function toRequest(step: Step): { action: SignedAction; params: object } {
  const relayerFee = String(step.fee);
  if ('salt' in step) {
    const creation = {
      fundAmount: '0',
      relayerFundAmount: String(step.sponsored),
      salt: saltOf(step.salt),
      relayerFee,
    };
    if (step.kind === 'create') return { action: 'CREATE_PRISM_FOR', params: creation };
    const entries = { dataIds: step.ids.map(idOf), payloads: step.ids.map(() => payloadOf(1)) };
    return { action: 'CREATE_PRISM_WITH_DATA_FOR', params: { ...creation, ...entries } };
  }
  const common = { cloudId: cloudIdOf(step.prism), relayerFee };
  switch (step.kind) {
    case 'write':
      return { action: 'WRITE_DATA_FOR', params: { ...common, dataId: idOf(step.id), payload: payloadOf(step.bytes) } };
    case 'modify':
      return {
        action: 'MODIFY_DATA_FOR',
        params: { ...common, dataId: idOf(step.id), payload: payloadOf(step.bytes) },
      };
    case 'delete':
      return { action: 'DELETE_DATA_FOR', params: { ...common, dataId: idOf(step.id) } };
    case 'offer':
      return { action: 'TRANSFER_PRISM_FOR', params: { ...common, newOwner: users[step.to]!.address } };
    case 'accept':
      return { action: 'ACCEPT_TRANSFER_FOR', params: common };
    case 'end':
      return { action: 'DELETE_PRISM_FOR', params: common };
    case 'batchWrite':
      return {
        action: 'BATCH_WRITE_DATA_FOR',
        params: { ...common, dataIds: step.ids.map(idOf), payloads: step.ids.map(() => payloadOf(1)) },
      };
    case 'batchDelete':
      return { action: 'BATCH_DELETE_DATA_FOR', params: { ...common, dataIds: step.ids.map(idOf) } };
  }
}

/** Signs a step for the nonce that the model says, or beside it. */
function signStep({ step, nonceOffset }: SignedStep, nonces: readonly number[]) {
  const { action, params } = toRequest(step);
  // Users are counted as in the model.
  const signer = users[step.user]!;
  const nonce = BigInt(Math.max(0, nonces[step.user]! + nonceOffset));
  return rig.sign({ action, signer, params, nonce } as Parameters<typeof rig.sign>[0]);
}

/** Submits one transaction and compares what becomes of it with the model. */
async function runTransaction(model: CloudModel, { kind, order }: Transaction): Promise<void> {
  const relayer = order.official ? rig.official : rig.outsider;
  const requests: { action: Action; params: ActionParams }[] = [];
  const expected: boolean[] = [];
  let fees = 0n;
  for (const { step, nonceOffset } of order.steps) {
    const nonce = model.nonces[step.user]!;
    // Before the first request there is no nonce that was.
    const signed = { step, nonceOffset: nonce + nonceOffset < 0 ? 0 : nonceOffset };
    requests.push((await signStep(signed, model.nonces)) as { action: Action; params: ActionParams });
    const done = applyStep(model, signed, PROTOCOL_FEE);
    expected.push(done);
    if (done) fees += step.fee;
  }
  const share = order.official ? fees : (fees * SHARE_BPS) / 10_000n;
  model.relayerEarned += share;
  model.treasuryEarned += fees - share;
  const entries = requests.map(({ params }) => params as ActionParams<'WRITE_DATA_FOR'>);
  const params = createMultiUserBatchParams({ signer: relayer, timestamp: '0', requests: entries });
  const isBatch = kind === 'batch';
  const request = isBatch ? { action: 'BATCH_MULTI_USER_WRITE_DATA' as const, params } : requests[0]!;
  const { error, events } = await rig.submit(request as { action: Action; params: ActionParams }, relayer);
  if (isBatch) expect(error).toBeUndefined();
  const outcomes = events.map(({ success }) => success);
  expect(outcomes, error).toEqual(isBatch || expected[0] ? expected : []);
}

/** Compares the whole chain with the model; the sums hold whatever the model says. */
async function checkChain(model: CloudModel): Promise<void> {
  let held = 0n;
  for (let number = 0; number < MODEL_USERS * SALTS; number++) {
    const known = model.prisms.get(number);
    const actual = await rig.readPrism(cloudIdOf(number));
    held += actual.balance;
    expect(actual.balance).toBe(known?.balance ?? 0n);
    expect(actual.deleted).toBe(known?.deleted ?? false);
    if (known === undefined || known.deleted) continue;
    expect(actual.owner).toBe(users[known.owner]!.address);
    for (const [entry, length] of known.entries) {
      expect(await rig.readData(cloudIdOf(number), idOf(entry))).toBe(payloadOf(length));
    }
  }
  for (const [index, { address }] of users.entries()) {
    expect(await rig.readNonce(address)).toBe(BigInt(model.nonces[index]!));
    expect(await rig.readCredits(address)).toBe(model.refunds[index]);
  }
  const earned = await Promise.all([rig.official, rig.outsider].map(rig.readEarnings));
  const owed = earned.reduce((sum, { own, rest }) => sum + own + rest, 0n);
  expect(await rig.readBalance(rig.deployment.cloud)).toBe(held + owed);
  expect(await rig.readCredits(rig.deployment.forwarder)).toBe(0n);
  expect(await rig.readCredits(rig.treasury)).toBe(model.treasuryEarned);
  const relayers = (await rig.readCredits(rig.official)) + (await rig.readCredits(rig.outsider));
  expect(relayers).toBe(2n * STAKE - model.sponsored + model.relayerEarned);
  const holders: Address[] = [
    ...[rig.deployer, rig.deployment.cloud, rig.treasury, rig.official, rig.outsider],
    ...users.map(({ address }) => address),
  ];
  const total = (await Promise.all(holders.map(rig.readBalance))).reduce((sum, credits) => sum + credits, 0n);
  expect(total).toBe(supply);
  expect(await readSupply()).toBe(supply);
}

it('keeps every credit and every nonce, whatever is asked in whatever order', async () => {
  let done = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(transaction, { minLength: 5, maxLength: 25, size: 'max' }), async (transactions) => {
      const snapshot = await rig.client.snapshot();
      const model = createCloudModel();
      for (const order of transactions) await runTransaction(model, order);
      await checkChain(model);
      const asked = transactions.reduce((sum, { order }) => sum + order.steps.length, 0);
      const carriedOut = model.nonces.reduce((sum, nonce) => sum + nonce, 0);
      done += carriedOut;
      refused += asked - carriedOut;
      await rig.client.revert({ id: snapshot });
    }),
    { numRuns: sized({ small: 12, long: 400 }) },
  );
  // Else the sequences say little.
  expect(done).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(10);
});

it('numbers prisms as the model does', () => {
  expect(prismNumber(MODEL_USERS - 1, SALTS - 1)).toBe(MODEL_USERS * SALTS - 1);
});
