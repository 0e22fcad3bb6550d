import type { Action, ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, deriveCloudId } from '@prism-gateway/protocol/typed-data';
import { type ChainRig, CREDIT, createUser, FUNDS, idOf } from './chainRig.ts';

/** Gas of each of the twelve functions, and of the multi-user batch in relation to single writes. */
export interface GasMeasurement {
  /** Gas of a transaction, by action and what it holds. */
  readonly transactions: Readonly<Record<string, number>>;
  /** Gas of one of 50 writes in a multi-user batch. */
  readonly writeInBatchOf50: number;
  /** That, in relation to the same write by itself. */
  readonly batchRatio: number;
}

const BATCH = 50;
const payloadOf = (bytes: number) => `0x${'a5'.repeat(bytes)}`;

/**
 * Measures what each function costs, in the state that it usually meets: signers that have a nonce and relayers and a
 * treasury that hold credits already, as none of these is a first time on a chain that has run for a while.
 */
export async function measureGas(rig: ChainRig): Promise<GasMeasurement> {
  const alice = createUser('gas alice');
  const bob = createUser('gas bob');
  const cloudId = await rig.createPrism(alice);
  await rig.createPrism(bob);
  await rig.giveCredits(rig.official, FUNDS);
  await rig.giveCredits(rig.treasury, FUNDS);
  await rig.approve(rig.official, rig.deployment.forwarder, FUNDS);
  const transactions: Record<string, number> = {};

  async function submit<A extends Action>(label: string, request: { action: A; params: ActionParams<A> }) {
    const { error, events, receipt } = await rig.submit(request);
    const failed = events.filter(({ success }) => !success);
    if (error !== undefined || failed.length > 0) throw new Error(`${label}: ${error ?? `${failed.length} failed`}`);
    transactions[label] = Number(receipt.gasUsed);
    return Number(receipt.gasUsed);
  }

  const write = (dataId: string, payload: string) => ({ cloudId, dataId: idOf(dataId), payload });
  for (const bytes of [20, 50, 1_000, 20_000]) {
    const data = write(`w${bytes}`, payloadOf(bytes));
    const order = { action: 'WRITE_DATA_FOR', signer: alice, params: data } as const;
    await submit(`WRITE_DATA_FOR, ${bytes} bytes`, await rig.sign(order));
  }
  const dataIds = ['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8', 'b9'].map(idOf);
  const payloads = dataIds.map(() => payloadOf(20));
  const entry = { cloudId, dataId: idOf('w20') };
  const many = { cloudId, dataIds, payloads };
  const steps = [
    ['MODIFY_DATA_FOR, 20 bytes', { action: 'MODIFY_DATA_FOR', signer: alice, params: write('w20', payloadOf(20)) }],
    ['DELETE_DATA_FOR', { action: 'DELETE_DATA_FOR', signer: alice, params: entry }],
    ['BATCH_WRITE_DATA_FOR, 10 of 20 bytes', { action: 'BATCH_WRITE_DATA_FOR', signer: alice, params: many }],
    ['BATCH_MODIFY_DATA_FOR, 10 of 20 bytes', { action: 'BATCH_MODIFY_DATA_FOR', signer: alice, params: many }],
    ['BATCH_DELETE_DATA_FOR, 10', { action: 'BATCH_DELETE_DATA_FOR', signer: alice, params: { cloudId, dataIds } }],
    ['TRANSFER_PRISM_FOR', { action: 'TRANSFER_PRISM_FOR', signer: alice, params: { cloudId, newOwner: bob.address } }],
    ['ACCEPT_TRANSFER_FOR', { action: 'ACCEPT_TRANSFER_FOR', signer: bob, params: { cloudId } }],
    ['DELETE_PRISM_FOR', { action: 'DELETE_PRISM_FOR', signer: bob, params: { cloudId } }],
  ] as const;
  // Each is an order of its action.
  for (const [label, order] of steps) await submit(label, await rig.sign(order as never));

  const creation = { fundAmount: '0', relayerFundAmount: String(CREDIT) };
  const created = { action: 'CREATE_PRISM_FOR', signer: alice, params: { ...creation, salt: '0x50' } } as const;
  await submit('CREATE_PRISM_FOR, sponsored', await rig.sign(created));
  const filled = { ...creation, salt: '0x51', dataIds: dataIds.slice(0, 2), payloads: payloads.slice(0, 2) };
  const withData = { action: 'CREATE_PRISM_WITH_DATA_FOR', signer: alice, params: filled } as const;
  await submit('CREATE_PRISM_WITH_DATA_FOR, sponsored, 2 of 20 bytes', await rig.sign(withData));

  const writers = Array.from({ length: BATCH }, (_, index) => createUser(`writer ${index}`));
  for (const writer of writers) await rig.createPrism(writer, '0x01', CREDIT);
  const requests: ActionParams<'WRITE_DATA_FOR'>[] = [];
  for (const signer of writers) {
    const params = {
      ...write('batch', payloadOf(20)),
      cloudId: deriveCloudId({ signer: signer.address, salt: '0x01' }),
    };
    requests.push((await rig.sign({ action: 'WRITE_DATA_FOR', signer, params })).params);
  }
  const params = createMultiUserBatchParams({ signer: rig.official, timestamp: '0', requests });
  const label = `BATCH_MULTI_USER_WRITE_DATA, ${BATCH} of 20 bytes`;
  const batch = await submit(label, { action: 'BATCH_MULTI_USER_WRITE_DATA', params });
  const writeInBatchOf50 = Math.round(batch / BATCH);
  // The single write that it is compared with is the very same: another entry of a user with a nonce and a balance.
  const batchRatio = batch / BATCH / transactions['WRITE_DATA_FOR, 20 bytes']!;
  return { transactions, writeInBatchOf50, batchRatio: Math.round(batchRatio * 1_000) / 1_000 };
}
