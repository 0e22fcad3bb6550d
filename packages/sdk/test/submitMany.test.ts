import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ActionOrder, submitMany, type TypedDataAccount } from '../src/index.ts';
import { newAccount, type SdkRig, startSdkRig } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

const [ONE, OTHER] = ['0x01', '0x02'];
const write = (dataId: string, cloudId = ONE): ActionOrder => ({
  action: 'WRITE_DATA_FOR',
  input: { cloudId: cloudId as string, dataId, payload: `${dataId}ff`, relayerFee: 10n },
});
const erase = (dataId: string): ActionOrder => ({
  action: 'DELETE_DATA_FOR',
  input: { cloudId: '0x01', dataId, relayerFee: 5n },
});

/** An account that counts how often it is asked to sign. */
function countPrompts() {
  const account = newAccount();
  const signed: string[] = [];
  const counting: TypedDataAccount = {
    address: account.address,
    signTypedData(typedData) {
      signed.push(typedData.primaryType);
      // viem knows the types by the primary type.
      return account.signTypedData(typedData as never);
    },
  };
  return { user: rig.createUser({ account: counting }), signed };
}

describe('a run of actions', () => {
  it('that write into one prism is signed by one prompt, and is one batch', async () => {
    const { user, signed } = countPrompts();
    const submissions = await submitMany(user, [write('0x0a'), write('0x0b'), write('0x0c')]);
    expect(signed).toEqual(['BatchWriteData']);
    expect(new Set(submissions)).toHaveProperty('size', 1);
    expect(submissions).toHaveLength(3);
    expect(submissions[0]?.record).toMatchObject({
      action: 'BATCH_WRITE_DATA_FOR',
      params: {
        ...{ cloudId: '0x01', dataIds: ['0x0a', '0x0b', '0x0c'], relayerFee: '30' },
        payloads: ['0x0aff', '0x0bff', '0x0cff'],
      },
    });
  });

  it('keeps its order, and its nonces are consecutive', async () => {
    const { user, signed } = countPrompts();
    const orders = [
      write('0x0a'),
      write('0x0b'),
      write('0x0a'),
      write('0x0a', OTHER),
      erase('0x0a'),
      erase('0x0b'),
      write('0x0a'),
    ];
    const submissions = await submitMany(user, orders);
    expect(signed).toEqual(['BatchWriteData', 'WriteData', 'WriteData', 'BatchDeleteData', 'WriteData']);
    expect(submissions.map(({ nonce }) => nonce)).toEqual([0n, 0n, 1n, 2n, 3n, 3n, 4n]);
  });

  it('may be signed one by one, or in batches no larger than the gateway takes', async () => {
    const { user, signed } = countPrompts();
    const orders = Array.from({ length: 5 }, (_, index) => write(`0x0${index + 1}`));
    await submitMany(user, orders, { signing: 'each' });
    expect(signed).toHaveLength(5);
    await submitMany(user, orders, { maxBatchSize: 2 });
    expect(signed.slice(5)).toEqual(['BatchWriteData', 'BatchWriteData', 'WriteData']);
  });

  it('is valid from the latest of its times on', async () => {
    const { user } = countPrompts();
    const times = [100n, 300n, undefined];
    const orders = times.map((timestamp, index) => {
      const { action, input } = write(`0x0${index + 1}`);
      return { action, input: { ...input, timestamp } } as ActionOrder;
    });
    const [first] = await submitMany(user, orders);
    expect(first?.record.params.timestamp).toBe('300');
  });

  it('that breaks off says what is submitted, and leaves the next nonce free', async () => {
    const { user, signed } = countPrompts();
    const orders = [write('0x0a'), erase('0x0a'), write('no hex', OTHER), erase('0x0b')];
    const error = await submitMany(user, orders).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SubmitManyError', code: 'RUN_INTERRUPTED', message: /^Only 2 of 4 actions/ });
    expect((error as { submissions: unknown[] }).submissions).toHaveLength(2);
    // The third was signed, and refused by the gateway; the fourth was not.
    expect(signed).toHaveLength(3);
    expect((await user.deletePrism({ cloudId: '0x01', relayerFee: 1n })).nonce).toBe(2n);
  });

  it('ends with its signal', async () => {
    const { user } = countPrompts();
    await expect(submitMany(user, [write('0x0a')], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      cause: { code: 'ABORTED' },
    });
  });
});
