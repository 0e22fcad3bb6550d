import type { ActionParams } from '@prism-gateway/protocol';
import { decodeFunctionData } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import { encodeForwarderCall, FORWARDER_FUNCTIONS } from './encodeForwarderCall.ts';
import { forwarderAbi } from './generated/forwarderAbi.ts';

const zeroWord = `0x${'0'.repeat(64)}`;
const signature = { v: 28, r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}` };
const shared = {
  signer: '0xABCDEFabcdef0123456789ABCDEFABCDEF012345',
  relayerFee: '7',
  timestamp: '1767225600',
  ...signature,
};
/** As the chain has them. */
const auth = {
  signer: shared.signer.toLowerCase(),
  relayerFee: 7n,
  timestamp: 1_767_225_600n,
  ...signature,
};
const padded = (digits: string) => `0x${digits.padStart(64, '0')}`;

/** Decodes what was encoded, addresses in lower case. */
function decode(data: `0x${string}`) {
  const { functionName, args } = decodeFunctionData({ abi: forwarderAbi, data });
  const lower = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
  const text = JSON.stringify(args, lower).replace(/0x[0-9a-fA-F]{40}"/g, (address) => address.toLowerCase());
  return { functionName, args: JSON.parse(text) as unknown[] };
}
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)));

describe('encodeForwarderCall', () => {
  // Shows CHAIN-8.
  it('has a function of its own for each action', () => {
    const names = forwarderAbi.filter(
      (item) => item.type === 'function' && /(For|multiUserWriteData)$/i.test(item.name),
    );
    expect(names.map((item) => 'name' in item && item.name).toSorted()).toEqual(
      Object.values(FORWARDER_FUNCTIONS).toSorted(),
    );
  });

  // Shows CHAIN-3.
  it('pads ids on the left, and takes addresses in any letter case', () => {
    const params = { cloudId: '0xc1', dataId: '0x0D0E', payload: '0xAB', ...shared };
    expect(decode(encodeForwarderCall({ action: 'WRITE_DATA_FOR', params }).data)).toEqual({
      functionName: 'writeDataFor',
      args: plain([padded('c1'), padded('0d0e'), '0xab', auth]),
    });
  });

  it('sends zeros for a permit and a sponsorship that are not there', () => {
    const params = { fundAmount: '0', salt: '0x2a', ...shared };
    const permit = { deadline: 0n, v: 0, r: zeroWord, s: zeroWord };
    expect(decode(encodeForwarderCall({ action: 'CREATE_PRISM_FOR', params }).data).args).toEqual(
      plain([{ fundAmount: 0n, relayerFundAmount: 0n, salt: padded('2a'), permit }, auth]),
    );
  });

  it('sends a permit and a sponsorship as they are', () => {
    const permit = { deadline: '99', ...signature };
    const creation = { fundAmount: '5', relayerFundAmount: '6', salt: '0x2a', permit };
    const params = { ...creation, dataIds: ['0x01'], payloads: ['0x'], ...shared };
    expect(decode(encodeForwarderCall({ action: 'CREATE_PRISM_WITH_DATA_FOR', params }).data).args).toEqual(
      plain([
        { fundAmount: 5n, relayerFundAmount: 6n, salt: padded('2a'), permit: { deadline: 99n, ...signature } },
        [padded('01')],
        ['0x'],
        auth,
      ]),
    );
  });

  it('sends the entries of a multi-user batch, and nothing of its outer fields', () => {
    const entry: ActionParams<'WRITE_DATA_FOR'> = { cloudId: '0x01', dataId: '0x02', payload: '0x03', ...shared };
    const params = { ...shared, relayerFee: '14', requests: [entry, { ...entry, dataId: '0x04' }] };
    const chainEntry = { cloudId: padded('01'), dataId: padded('02'), payload: '0x03', auth };
    expect(decode(encodeForwarderCall({ action: 'BATCH_MULTI_USER_WRITE_DATA', params }).data).args).toEqual(
      plain([[chainEntry, { ...chainEntry, dataId: padded('04') }]]),
    );
  });
});
