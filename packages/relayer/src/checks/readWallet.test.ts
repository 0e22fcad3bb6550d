import { type Hex, keccak256, padHex } from 'viem';
import { expect, test } from 'vitest';
import { type KnownSlot, readWallet } from './readWallet.ts';

/** The deployed code of Safe 1.3.0's proxy. */
const SAFE_PROXY: Hex =
  '0x608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fea2646970667358221220d1429297349653a4918076d650332de1a1068c5f3e07c5c82360c277770b955264736f6c63430007060033';
/** An ERC-1967 clone of Solady's, as Coinbase and Kernel make their wallets. */
const CLONE: Hex =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3';
const KERNEL: Hex = '0xbac849bb641841b44e965fb01a4bf5f074f84b4d';
const [WALLET, GOOD, HOSTILE] = ['aa', 'bb', 'cc'].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];

/** A chain with some code, on which each proxy leads to one address. */
function createChain(codes: Readonly<Record<Hex, Hex>>, implementation: Hex) {
  return {
    code: async (address: Hex): Promise<Hex> => codes[address] ?? '0x',
    storage: async (): Promise<Hex> => padHex(implementation, { size: 32 }),
  };
}

// Shows RELAY-18.
test('a proxy is known by its own code and by that of what it leads to', async () => {
  const codes = { [WALLET]: SAFE_PROXY, [GOOD]: '0x01', [HOSTILE]: '0x02' } as const;
  const slot: KnownSlot = { slot: padHex('0x', { size: 32 }), names: { [keccak256('0x01')]: 'Good 1' } };
  const known = { [keccak256(SAFE_PROXY)]: [slot] };
  const honest = await readWallet(createChain(codes, GOOD), WALLET, known);
  expect(honest?.name).toBe('Good 1');
  // The same proxy, and somebody else's code behind it, or none: anything may come there.
  const hostile = await readWallet(createChain(codes, HOSTILE), WALLET, known);
  expect(hostile).toMatchObject({ name: undefined });
  expect(hostile?.code).not.toBe(honest?.code);
  expect(await readWallet(createChain({ [WALLET]: SAFE_PROXY }, GOOD), WALLET, known)).toMatchObject({
    name: undefined,
  });
  expect(await readWallet(createChain({}, GOOD), WALLET, known)).toBeUndefined();
});

// Shows RELAY-18.
test("of a Safe it is looked behind its proxy; wallets that answer by another contract's storage are unknown", async () => {
  const codes = { [WALLET]: SAFE_PROXY, [HOSTILE]: '0x02' } as const;
  const safe = await readWallet(createChain(codes, HOSTILE), WALLET);
  expect(safe?.name).toBeUndefined();
  expect(safe?.code).not.toBe(keccak256(SAFE_PROXY));
  const kernel = createChain({ [WALLET]: CLONE, [KERNEL]: '0x03' }, KERNEL);
  expect(await readWallet(kernel, WALLET)).toEqual({ code: keccak256(CLONE), name: undefined });
});
