import type { Hex } from 'viem';
import { concat, keccak256, slice } from 'viem/utils';
import type { ChainReader } from '../chain/chainReader.ts';

/** A contract wallet, by its code. */
interface Wallet {
  /** Hash of its code; of a known proxy, the hash of its own and its implementation's together. */
  readonly code: Hex;
  /** Whose it is, like `Safe 1.4.1`; undefined for a code that is not on the list. */
  readonly name: string | undefined;
}

/** Where a proxy keeps an address, and what must be there. */
export interface KnownSlot {
  readonly slot: Hex;
  /** By the hash of the code there. */
  readonly names: Readonly<Record<Hex, string>>;
}

/** Proxies by the hash of their code. */
type KnownProxies = Readonly<Record<Hex, readonly KnownSlot[]>>;

const ZERO_SLOT: Hex = `0x${'0'.repeat(64)}`;
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
const safe: readonly KnownSlot[] = [
  { slot: ZERO_SLOT, names: SAFES },
  { slot: SAFE_HANDLER_SLOT, names: SAFE_HANDLERS },
];

/**
 * Proxies by the hash of their code, and what they have to lead to. The hashes are those of the deployed code in the artifacts that Safe
 * publishes (`@gnosis.pm/safe-contracts` 1.3.0, `@safe-global/safe-contracts` 1.4.1), and of its register of deployments.
 *
 * A wallet on the list answers by its own storage alone, so that each wallet has to be changed by itself. Kernel asks a validator that its
 * owner installs: one change there has many wallets change their minds. Coinbase's wallet signs in more than the 65 bytes that a request
 * has room for.
 *
 * @see docs/relayer.md
 */
const PROXIES: KnownProxies = {
  '0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000': safe,
  '0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c': safe,
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
  const hash = keccak256(await code(target));
  return { code: hash, name: known.names[hash] };
}

/**
 * Reads the code of a signer, and says whose it is: that of a proxy and of what it leads to. It is no promise that its owners are honest.
 *
 * @param proxies - the list
 * @throws ChainError if the node does not answer
 * @see docs/specification.md RELAY-18
 */
export async function readWallet(
  chain: Pick<ChainReader, 'code' | 'storage'>,
  signer: Hex,
  proxies: KnownProxies = PROXIES,
): Promise<Wallet | undefined> {
  const code = await chain.code(signer);
  if (code === '0x') return undefined;
  const hash = keccak256(code);
  const slots = proxies[hash];
  if (slots === undefined) return { code: hash, name: undefined };
  const parts = await Promise.all(slots.map((known) => followSlot(chain, { proxy: signer, known })));
  const isKnown = parts.every(({ name }) => name !== undefined);
  return {
    code: keccak256(concat([hash, ...parts.map((part) => part.code)])),
    name: isKnown ? parts[0]?.name : undefined,
  };
}
