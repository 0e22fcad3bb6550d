import { type Hex, keccak256, padHex } from 'viem';
import { expect, test } from 'vitest';
import { readWallet } from './readWallet.ts';

/** What an ERC-1967 clone of Solady's is made of: it delegates to whatever stands in the slot. */
const CLONE: Hex =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3';
const COINBASE: Hex = '0x000100abaad02f1cfc8bbe32bd5a564817339e72';
const WALLET: Hex = `0x${'aa'.repeat(20)}`;
const HOSTILE: Hex = `0x${'bb'.repeat(20)}`;

/** A chain with some code, on which each proxy leads to one address. */
function createChain(codes: Readonly<Record<Hex, Hex>>, implementation: Hex) {
  return {
    code: async (address: Hex): Promise<Hex> => codes[address] ?? '0x',
    storage: async (): Promise<Hex> => padHex(implementation, { size: 32 }),
  };
}

// Shows RELAY-18.
test('a proxy is known by its own code and by that of what it leads to', async () => {
  const codes = { [WALLET]: CLONE, [COINBASE]: '0x01', [HOSTILE]: '0x02' } as const;
  const honest = await readWallet(createChain(codes, COINBASE), WALLET);
  expect(honest?.name).toBe('Coinbase Smart Wallet 1');
  // The same proxy, and somebody else's code behind it.
  const hostile = await readWallet(createChain(codes, HOSTILE), WALLET);
  expect(hostile).toMatchObject({ name: undefined });
  expect(hostile?.code).not.toBe(honest?.code);
  // Where nothing was deployed, anything may come.
  expect(await readWallet(createChain({ [WALLET]: CLONE }, COINBASE), WALLET)).toMatchObject({ name: undefined });
  expect(await readWallet(createChain({ [WALLET]: '0x03' }, COINBASE), WALLET)).toEqual({
    code: keccak256('0x03'),
    name: undefined,
  });
  expect(await readWallet(createChain({}, COINBASE), WALLET)).toBeUndefined();
});
