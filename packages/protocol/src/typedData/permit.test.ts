import { recoverTypedDataAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { DEVELOPMENT_KEYS } from '../../scripts/developmentKeys.ts';
import { createPermit, createPermitTypedData } from './permit.ts';
import { joinSignature } from './signature.ts';

const account = privateKeyToAccount(DEVELOPMENT_KEYS[0]);
const source = {
  token: { address: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512', name: 'Prism Credit' },
  chainId: 31337,
  owner: account.address.toLowerCase(),
  spender: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  value: 5n,
  nonce: 1n,
  deadline: 1767229200n,
};

test("a token may say its domain's version", () => {
  const token = { ...source.token, version: '2' };
  expect(createPermitTypedData({ ...source, token }).domain.version).toBe('2');
});

test('a signed permit goes into the params, and its signature recovers to the owner', async () => {
  const typedData = createPermitTypedData(source);
  const permit = createPermit({ deadline: source.deadline, signature: await account.signTypedData(typedData) });
  expect(permit.deadline).toBe('1767229200');
  expect(await recoverTypedDataAddress({ ...typedData, signature: joinSignature(permit) })).toBe(account.address);
});

test('a signature of another form is refused', () => {
  expect(() => createPermit({ deadline: 1n, signature: '0x' })).toThrow(
    expect.objectContaining({ code: 'SIGNATURE_FORMAT' }),
  );
});
