import type { Action, ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, deriveCloudId } from '@prism-gateway/protocol/typed-data';
import type { Hex, LocalAccount } from 'viem';
import { type ChainRig, CREDIT, createUser, FUNDS, idOf } from './chainRig.ts';
import type { SignedOrder } from './rig/chainRequests.ts';

/** Gas of each of the twelve functions, and of the multi-user batch in relation to single writes. */
export interface GasMeasurement {
  /** Gas of a transaction, by action and what it holds. */
  readonly transactions: Readonly<Record<string, number>>;
  /** Gas of one of 50 writes in a multi-user batch. */
  readonly writeInBatchOf50: number;
  /** That, in relation to the same write by itself. */
  readonly batchRatio: number;
}

/** Submits a request, and writes its gas down under a label. */
type Submit = <A extends Action>(label: string, request: SignedOrder<A>) => Promise<number>;

/** A place to measure in. */
interface Site {
  readonly rig: ChainRig;
  readonly submit: Submit;
}

const BATCH = 50;
const SINGLE_WRITE = 'WRITE_DATA_FOR, 20 bytes';
const payloadOf = (bytes: number) => `0x${'a5'.repeat(bytes)}`;
const dataIds = Array.from({ length: 10 }, (_, index) => idOf(`b${index}`));
const payloads = dataIds.map(() => payloadOf(20));

function openSite(rig: ChainRig, transactions: Record<string, number>): Site {
  const submit: Submit = async (label, request) => {
    const { error, events, receipt } = await rig.submit(request);
    const failed = events.filter(({ success }) => !success).length;
    if (error !== undefined || failed > 0) throw new Error(`${label}: ${error ?? `${failed} entries failed`}`);
    transactions[label] = Number(receipt.gasUsed);
    return Number(receipt.gasUsed);
  };
  return { rig, submit };
}

/** Lets the relayer and the treasury have earnings that are not paid out yet. */
async function earnOnce(rig: ChainRig, signer: LocalAccount, cloudId: Hex): Promise<void> {
  const params = { cloudId, dataId: idOf('first'), payload: payloadOf(20) };
  await rig.submit(await rig.sign({ action: 'WRITE_DATA_FOR', signer, params }));
}

async function measureWrites({ rig, submit }: Site, signer: LocalAccount, cloudId: Hex): Promise<void> {
  for (const bytes of [20, 50, 1_000, 20_000]) {
    const params = { cloudId, dataId: idOf(`w${bytes}`), payload: payloadOf(bytes) };
    await submit(`WRITE_DATA_FOR, ${bytes} bytes`, await rig.sign({ action: 'WRITE_DATA_FOR', signer, params }));
  }
}

/** The rest of a prism's life, after the writes; it ends in the hands of the heir. */
async function measureLife(
  { rig, submit }: Site,
  signer: LocalAccount,
  heir: LocalAccount,
  cloudId: Hex,
): Promise<void> {
  const entry = { cloudId, dataId: idOf('w20') };
  const many = { cloudId, dataIds, payloads };
  const newOwner = heir.address;
  const steps = [
    ['MODIFY_DATA_FOR, 20 bytes', { action: 'MODIFY_DATA_FOR', signer, params: { ...entry, payload: payloadOf(20) } }],
    ['DELETE_DATA_FOR', { action: 'DELETE_DATA_FOR', signer, params: entry }],
    ['BATCH_WRITE_DATA_FOR, 10 of 20 bytes', { action: 'BATCH_WRITE_DATA_FOR', signer, params: many }],
    ['BATCH_MODIFY_DATA_FOR, 10 of 20 bytes', { action: 'BATCH_MODIFY_DATA_FOR', signer, params: many }],
    ['BATCH_DELETE_DATA_FOR, 10', { action: 'BATCH_DELETE_DATA_FOR', signer, params: { cloudId, dataIds } }],
    ['TRANSFER_PRISM_FOR', { action: 'TRANSFER_PRISM_FOR', signer, params: { cloudId, newOwner } }],
    ['ACCEPT_TRANSFER_FOR', { action: 'ACCEPT_TRANSFER_FOR', signer: heir, params: { cloudId } }],
    ['DELETE_PRISM_FOR', { action: 'DELETE_PRISM_FOR', signer: heir, params: { cloudId } }],
  ] as const;
  // Each is an order of its own action.
  for (const [label, order] of steps) await submit(label, await rig.sign(order as never));
}

async function measureCreations({ rig, submit }: Site, signer: LocalAccount): Promise<void> {
  const funds = { fundAmount: '0', relayerFundAmount: String(CREDIT) };
  const empty = { ...funds, salt: '0x50' };
  const filled = { ...funds, salt: '0x51', dataIds: dataIds.slice(0, 2), payloads: payloads.slice(0, 2) };
  const created = await rig.sign({ action: 'CREATE_PRISM_FOR', signer, params: empty });
  await submit('CREATE_PRISM_FOR, sponsored', created);
  const withData = await rig.sign({ action: 'CREATE_PRISM_WITH_DATA_FOR', signer, params: filled });
  await submit('CREATE_PRISM_WITH_DATA_FOR, sponsored, 2 of 20 bytes', withData);
}

/** The batch's writes are the very same as the single one: of users with a nonce and a balance, into their own prisms. */
async function measureMultiUserBatch({ rig, submit }: Site): Promise<number> {
  const requests: ActionParams<'WRITE_DATA_FOR'>[] = [];
  for (let index = 0; index < BATCH; index++) {
    const signer = createUser(`writer ${index}`);
    await rig.createPrism(signer, '0x01', CREDIT);
    const cloudId = deriveCloudId({ signer: signer.address, salt: '0x01' });
    const params = { cloudId, dataId: idOf('batch'), payload: payloadOf(20) };
    requests.push((await rig.sign({ action: 'WRITE_DATA_FOR', signer, params })).params);
  }
  const params = createMultiUserBatchParams({ signer: rig.official, timestamp: '0', requests });
  const label = `BATCH_MULTI_USER_WRITE_DATA, ${BATCH} of 20 bytes`;
  return await submit(label, { action: 'BATCH_MULTI_USER_WRITE_DATA', params });
}

/**
 * Measures what each function costs, in the state that it usually meets: signers that have a nonce, and a relayer and a
 * treasury that have earned and hold credits already, as none of these is a first time on a chain that has run for a while.
 */
export async function measureGas(rig: ChainRig): Promise<GasMeasurement> {
  const transactions: Record<string, number> = {};
  const site = openSite(rig, transactions);
  const [alice, bob] = [createUser('gas alice'), createUser('gas bob')];
  const cloudId = await rig.createPrism(alice);
  await rig.createPrism(bob);
  await rig.giveCredits(rig.official, FUNDS);
  await rig.giveCredits(rig.treasury, FUNDS);
  await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
  await earnOnce(rig, alice, cloudId);
  await measureWrites(site, alice, cloudId);
  await measureLife(site, alice, bob, cloudId);
  await measureCreations(site, alice);
  const batch = await measureMultiUserBatch(site);
  // Measured with the writes above.
  const ratio = batch / BATCH / transactions[SINGLE_WRITE]!;
  return { transactions, writeInBatchOf50: Math.round(batch / BATCH), batchRatio: Math.round(ratio * 1_000) / 1_000 };
}
