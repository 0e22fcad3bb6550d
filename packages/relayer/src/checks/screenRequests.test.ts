import type { ActionParams } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { screenRequest } from './screenRequests.ts';

const WORD = `0x${'11'.repeat(32)}`;
const signer = `0x${'aa'.repeat(20)}`;
const CREDIT = 10n ** 18n;
const head = { ...HEAD, number: 1n, timestamp: 5000n, gasPrice: 10n, gasReserve: 20n };
const forwarder = { isOfficial: false, priorityWindow: 60n, maxAge: 1000n, shareBps: 5000n };
const facts = { head, forwarder, seconds: 5000n, finalitySeconds: 0n };
const context = makeContext({ policy: { feeMarginPercent: 0, creditsPerEth: CREDIT } });

type Write = Partial<ActionParams<'WRITE_DATA_FOR'>>;

function screen(change: Write, chain = facts) {
  const params = {
    ...{ signer, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: String(CREDIT), timestamp: '4500' },
    ...{ v: 27, r: WORD, s: WORD, ...change },
  };
  const record = { requestId: 'one', action: 'WRITE_DATA_FOR', signer, params, createdAt: '' } as const;
  return screenRequest(context, { record, facts: chain });
}

it('passes what may be carried out', () => {
  expect(screen({})).toBeUndefined();
});

it('ends what is past its age, and leaves what is too early, at both ends of time', () => {
  expect(screen({ timestamp: '4000' })).toBeUndefined();
  expect(screen({ timestamp: '3999' })).toMatchObject({ kind: 'hopeless', errorMessage: 'RequestExpired(4999)' });
  expect(screen({ timestamp: '0' })).toMatchObject({ kind: 'hopeless', errorMessage: 'RequestExpired(1000)' });
  expect(screen({ timestamp: '4940' })).toBeUndefined();
  expect(screen({ timestamp: '4941' })).toMatchObject({ reason: 'early', notBeforeMs: 1000 });
  expect(screen({ timestamp: String(2n ** 256n - 1n) })).toMatchObject({ reason: 'early' });
});

// Shows RELAY-22.
it('leaves what closes before a transaction could be mined as deep as it has to be, until it is past its age', () => {
  const chain = { ...facts, finalitySeconds: 13n };
  expect(screen({ timestamp: '4013' }, chain)).toBeUndefined();
  expect(screen({ timestamp: '4012' }, chain)).toMatchObject({ kind: 'leave', reason: 'closing', notBeforeMs: 13_000 });
  expect(screen({ timestamp: '4000' }, chain)).toMatchObject({ kind: 'leave', reason: 'closing', notBeforeMs: 1000 });
  expect(screen({ timestamp: '3999' }, chain)).toMatchObject({
    kind: 'hopeless',
    errorMessage: 'RequestExpired(4999)',
  });
});

it('leaves what pays for no transaction, with the price from which on it does', () => {
  // Half of the fee is the relayer's, for 40,000 gas.
  expect(screen({ relayerFee: '800000' })).toBeUndefined();
  expect(screen({ relayerFee: '799999' })).toMatchObject({ reason: 'fee', paysAtWei: 9n });
  expect(screen({ relayerFee: '0' })).toMatchObject({ reason: 'fee', paysAtWei: 0n });
});
