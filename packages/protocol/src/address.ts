/** Keccak-256 of bytes, whoever computes it. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

const ascii = new TextEncoder();

/**
 * Writes an address with the letter case of EIP-55.
 *
 * @param address - `0x` and 40 hex digits in any case
 * @see https://eips.ethereum.org/EIPS/eip-55
 */
export function toChecksumAddress(address: string, keccak256: Keccak256): string {
  const digits = address.slice(2).toLowerCase();
  const hash = keccak256(ascii.encode(digits));
  let text = '0x';
  for (let i = 0; i < digits.length; i++) {
    // `i` stays under 40, and the hash has 64 nibbles.
    const byte = hash[i >> 1]!;
    const nibble = i % 2 === 0 ? byte >> 4 : byte & 15;
    text += nibble >= 8 ? digits[i]!.toUpperCase() : digits[i];
  }
  return text;
}
