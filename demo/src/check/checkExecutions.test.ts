import type { RequestRecord } from '@prism-gateway/protocol';
import type { TransactionReceipt } from 'viem';
import { expect, it } from 'vitest';
import { checkExecutions } from './checkExecutions.ts';
import type { Execution } from './readExecutions.ts';

/** A write that was carried out, but for what is given. */
function execute({
  record,
  ...given
}: Partial<Omit<Execution, 'record'>> & { record?: Partial<RequestRecord> } = {}): Execution {
  const event = { digest: '0xd1', signer: '0x01', nonce: 0n, success: true } as const;
  return {
    submitted: { requestId: 'a', action: 'WRITE_DATA_FOR', parts: [{ signer: '0x01', nonce: 0n }] },
    // Of a record and a receipt only these are looked at.
    record: { status: 'success', txHash: '0xabc', ...record } as RequestRecord,
    receipt: { status: 'success', transactionHash: '0xabc' } as unknown as TransactionReceipt,
    events: [{ ...event, relayer: '0x02', relayerFee: 1n, reason: '0x', logIndex: 0 }],
    carried: 1,
    gas: 1n,
    ...given,
  };
}

const evaluate = (execution: Execution) => checkExecutions([execution], ['a']).map(({ isTrue }) => isTrue);
const [event] = execute().events;

it('takes what gateway and Forwarder both say was carried out', () => {
  expect(evaluate(execute())).toEqual([true, true]);
});

it.each([
  ['failed at the gateway', execute({ record: { status: 'failed', errorMessage: 'no' } })],
  ['has a transaction hash of no transaction', execute({ receipt: undefined })],
  ['has a transaction in which nothing was done for its signer', execute({ events: [] })],
  ['failed on the chain', execute({ events: event ? [{ ...event, success: false }] : [] })],
])('finds a request that %s', (_, execution) => {
  expect(evaluate(execution)).toEqual([false, false]);
});
