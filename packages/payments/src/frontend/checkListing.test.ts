import fc from 'fast-check';
import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { checkListing } from './checkListing.ts';

const WALLET = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const RELAYER = getAddress(`0x${'7'.repeat(40)}`);
const good = { paymentIntentId: 'pi_1', walletAddress: WALLET, stablecoinAmount: '1000000' };

test('a good payment is taken as it is; an address in lower case has no checksum to be wrong', () => {
  expect(checkListing([{ ...good, walletAddress: WALLET.toLowerCase(), card: 'visa' }], [])).toEqual({
    payments: [{ paymentIntentId: 'pi_1', walletAddress: WALLET, stablecoinAmount: 1_000_000n }],
    faults: [],
  });
});

test.each<[string, unknown]>([
  ['no wallet', { ...good, walletAddress: undefined }],
  ['an empty wallet', { ...good, walletAddress: '' }],
  ['a null wallet', { ...good, walletAddress: null }],
  ['a wrong checksum', { ...good, walletAddress: WALLET.replace('FbDB', 'fbDB') }],
  ['the zero address', { ...good, walletAddress: `0x${'0'.repeat(40)}` }],
  ['a relayer for a wallet', { ...good, walletAddress: RELAYER }],
  ['a short wallet', { ...good, walletAddress: '0x1234' }],
  ['zero', { ...good, stablecoinAmount: '0' }],
  ['a number', { ...good, stablecoinAmount: 1_000_000 }],
  ['a negative amount', { ...good, stablecoinAmount: '-1' }],
  ['a fraction', { ...good, stablecoinAmount: '1.5' }],
  ['leading zeros', { ...good, stablecoinAmount: '01' }],
  ['an exponent', { ...good, stablecoinAmount: '1e6' }],
  ['a trillion dollars and more', { ...good, stablecoinAmount: `${10n ** 18n + 1n}` }],
  ['no amount', { ...good, stablecoinAmount: undefined }],
  ['no intent', { ...good, paymentIntentId: undefined }],
  ['an intent with a line break', { ...good, paymentIntentId: 'pi\n1' }],
  ['no object', 'pi_1'],
  ['null', null],
])('%s is refused', (_, entry) => {
  const { payments, faults } = checkListing([entry], [RELAYER]);
  expect(payments).toEqual([]);
  expect(faults).toHaveLength(1);
});

// Shows PAY-8.
test('entries that are alike are one; an intent that is listed in two ways is refused once', () => {
  const other = { ...good, paymentIntentId: 'pi_2' };
  const again = { ...other, walletAddress: WALLET.toLowerCase() };
  const { payments, faults } = checkListing([good, other, again, { ...good, stablecoinAmount: '0' }], []);
  expect(payments.map(({ paymentIntentId }) => paymentIntentId)).toEqual(['pi_2']);
  expect(faults).toEqual([{ paymentIntentId: 'pi_1', reason: 'It is listed more than once, and not alike.' }]);
});

test('whatever JSON the frontend sends, no intent is paid twice, and nothing throws', () => {
  const value = fc.oneof(fc.constantFrom(...Object.values(good), 'pi_2', '0'), fc.jsonValue());
  const entry = fc.oneof(
    fc.record({ paymentIntentId: value, walletAddress: value, stablecoinAmount: value }, { requiredKeys: [] }),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
      const ids = checkListing(entries, []).payments.map(({ paymentIntentId }) => paymentIntentId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});
