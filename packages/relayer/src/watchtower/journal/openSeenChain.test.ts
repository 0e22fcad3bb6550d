import { expect, test } from 'vitest';
import { openWatchJournal } from './openWatchJournal.ts';

const hex = (byte: string, bytes: number) => `0x${byte.repeat(bytes)}` as const;
const SIGNER = hex('aa', 20);

test('only executions since a time are read, and those of long ago forgotten', () => {
  const journal = openWatchJournal({ path: ':memory:', now: () => 0 });
  const add = (number: number, seconds: bigint) => {
    const who = { signer: SIGNER, relayer: hex('bb', 20), digest: hex('cc', 32), nonce: BigInt(number) };
    const execution = { ...who, txHash: hex(`0${number}`, 32), logIndex: 0, block: BigInt(number) };
    journal.addExecutions([{ ...execution, deepSeconds: undefined }], seconds);
  };
  const list = (since: bigint) => journal.executionsOf([SIGNER], since).map(({ nonce }) => nonce);
  add(1, 100n);
  add(2, 200n);
  add(3, 300n);
  expect(list(200n)).toEqual([2n, 3n]);
  journal.forgetExecutions(200n);
  expect(list(0n)).toEqual([2n, 3n]);
});
