import { expect, test } from 'vitest';
import { parseReceipt } from './parseReceipt.ts';

const [HASH, BLOCK] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const;
const FROM = `0x${'aa'.repeat(20)}` as const;
const PLAIN = {
  ...{ transactionHash: HASH, blockHash: BLOCK, blockNumber: '0x7', from: FROM, logs: [], status: '0x1' },
  ...{ gasUsed: '0x186a0', effectiveGasPrice: '0x1' },
};

// Shows COST-1.
test.each([
  ['nothing on a plain chain', {}, 0n],
  ['the data fee', { l1Fee: '0x64', operatorFeeScalar: null }, 100n],
  [
    'and the operator fee since Isthmus',
    { l1Fee: '0x64', operatorFeeScalar: '0x14', operatorFeeConstant: '0x5' },
    107n,
  ],
  [
    'which is more since Jovian',
    { operatorFeeScalar: '0x2', operatorFeeConstant: '0x5', daFootprintGasScalar: '0x190' },
    20_000_005n,
  ],
])('beside gas a transaction pays %s', (_, more, dataFee) => {
  expect(parseReceipt({ ...PLAIN, ...more }, { hash: HASH, from: FROM })).toMatchObject({ dataFee });
});
