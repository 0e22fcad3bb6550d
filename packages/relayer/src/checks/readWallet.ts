import type { Hex } from 'viem';
import { concat, keccak256, slice } from 'viem/utils';
import type { ChainReader } from '../chain/chainReader.ts';

/** A contract wallet, by its code. */
export interface Wallet {
  /** Hash of its code; of a known proxy, the hash of its own and its implementation's together. */
  readonly code: Hex;
  /** Whose it is, like `Safe 1.4.1`; undefined for a code that is not on the list. */
  readonly name: string | undefined;
}

/** Reads what a signer's code is. @returns undefined where it has none */
export type ReadWallet = (signer: Hex) => Promise<Wallet | undefined>;

/** Where a proxy keeps an address, and what must be there. */
interface KnownSlot {
  readonly slot: Hex;
  /** By the address, in lower case, or by the hash of the code there. */
  readonly names: Readonly<Record<Hex, string>>;
}

const ZERO_SLOT: Hex = `0x${'0'.repeat(64)}`;
/** @see https://eips.ethereum.org/EIPS/eip-1967 */
const ERC1967_SLOT: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
/** keccak-256 of `fallback_manager.handler.address`: who answers `isValidSignature` for a Safe. */
const SAFE_HANDLER_SLOT: Hex = '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5';

const SAFE_HANDLERS = {
  '0x03e69f7ce809e81687c69b19a7d7cca45b6d551ffdec73d9bb87178476de1abf': 'CompatibilityFallbackHandler 1.3.0',
  '0x7c6007a5d711cea8dfd5d91f5940ec29c7f200fe511eb1fc1397b367af3c42f9': 'CompatibilityFallbackHandler 1.4.1',
} as const;
const SAFES = {
  '0xbba688fbdb21ad2bb58bc320638b43d94e7d100f6f3ebaab0a4e4de6304b1c2e': 'Safe 1.3.0',
  '0x21842597390c4c6e3c1239e434a682b054bd9548eee5e9b1d6a4482731023c0f': 'Safe L2 1.3.0',
  '0x1fe2df852ba3299d6534ef416eefa406e56ced995bca886ab7a553e6d0c5e1c4': 'Safe 1.4.1',
  '0xb1f926978a0f44a2c0ec8fe822418ae969bd8c3f18d61e5103100339894f81ff': 'Safe L2 1.4.1',
} as const;
/** Implementations at addresses that only their creation code can have (CREATE2). */
const ERC1967_WALLETS = {
  '0x000100abaad02f1cfc8bbe32bd5a564817339e72': 'Coinbase Smart Wallet 1',
  '0x00000110dcdedc9581cb5ecb8467282f2926534d': 'Coinbase Smart Wallet 1.1',
  '0x94f097e1ebeb4eca3aae54cabb08905b239a7d27': 'Kernel 3.0',
  '0xbac849bb641841b44e965fb01a4bf5f074f84b4d': 'Kernel 3.1',
} as const;

const safe: readonly KnownSlot[] = [
  { slot: ZERO_SLOT, names: SAFES },
  { slot: SAFE_HANDLER_SLOT, names: SAFE_HANDLERS },
];

/**
 * Proxies by the hash of their code, and what they have to lead to. The hashes are those of the deployed code in the artifacts that
 * Safe publishes (`@gnosis.pm/safe-contracts` 1.3.0, `@safe-global/safe-contracts` 1.4.1), of its register of deployments
 * (`safe-deployments`), and of Solady's `LibClone`, by which Coinbase and Kernel make their wallets.
 *
 * @see docs/relayer.md
 */
const PROXIES: Readonly<Record<Hex, readonly KnownSlot[]>> = {
  '0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000': safe,
  '0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c': safe,
  '0xaaa52c8cc8a0e3fd27ce756cc6b4e70c51423e9b597b11f32d3e49f8b1fc890d': [
    { slot: ERC1967_SLOT, names: ERC1967_WALLETS },
  ],
};

interface Part {
  readonly code: Hex;
  readonly name: string | undefined;
}

/** Follows a slot to what is there. */
async function followSlot(
  { code, storage }: Pick<ChainReader, 'code' | 'storage'>,
  { proxy, known }: { readonly proxy: Hex; readonly known: KnownSlot },
): Promise<Part> {
  const target = slice(await storage(proxy, known.slot), 12);
  const targetCode = await code(target);
  // No code there does nothing, and says yes to nothing.
  const hash = keccak256(targetCode);
  const name = targetCode === '0x' ? undefined : (known.names[hash] ?? known.names[target]);
  return { code: hash, name };
}

/**
 * Reads the code of a signer, and tells whose it is: that of a proxy and of what it leads to. It is no promise that its owners are honest.
 *
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-18
 */
export async function readWallet(
  chain: Pick<ChainReader, 'code' | 'storage'>,
  signer: Hex,
): Promise<Wallet | undefined> {
  const code = await chain.code(signer);
  if (code === '0x') return undefined;
  const hash = keccak256(code);
  const slots = PROXIES[hash];
  if (slots === undefined) return { code: hash, name: undefined };
  const parts = await Promise.all(slots.map((known) => followSlot(chain, { proxy: signer, known })));
  const isKnown = parts.every(({ name }) => name !== undefined);
  return {
    code: keccak256(concat([hash, ...parts.map((part) => part.code)])),
    name: isKnown ? parts[0]?.name : undefined,
  };
}
